import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { FactSources } from '../../src/facts/declare-fact.ts'
import { facts } from '../../src/facts/facts.ts'
import { factPrinter } from '../../src/facts/print-facts.ts'
import { isEmbedded } from '../support/logs/engine.ts'
import { rawConnect } from '../support/raw-http.ts'
import { type Service, startService, validReading } from '../support/test-service.ts'
import { until } from '../support/time/until.ts'

setDefaultTimeout(600_000)

const loadedMs = Date.now()

describe('each fact', () => {
  test('has a conventional name with its unit, and a sentence of help', () => {
    const names = Object.values(facts).map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    for (const { name, kind, unit, help } of Object.values(facts)) {
      expect(name).toMatch(/^(cellarbook|process)_[a-z0-9]+(_[a-z0-9]+)*$/)
      expect([name, name.endsWith('_total')]).toEqual([name, kind === 'counter'])
      if (unit !== null) expect(name).toMatch(new RegExp(`_${unit}(_total)?$`))
      expect(help).toMatch(/^[A-Z+0-9].*\.$/)
    }
  })
})

let service: Service

beforeEach(async () => {
  service = await startService({ isDerived: true })
})
afterEach(() => service.stop())

const bugs: unknown[] = []
const printedOf = (sources: FactSources | null): Promise<string> =>
  factPrinter(
    () => sources,
    (thrown) => bugs.push(thrown),
  ).print()

const printed = (): Promise<string> => printedOf(service.facts)

/** By name and labels, as printed. */
const samples = async (): Promise<ReadonlyMap<string, number>> => {
  const lines = (await printed()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]))
}

/** That were counted. */
const requestsIn = (found: ReadonlyMap<string, number>) =>
  [...found].filter(([name, count]) => name.startsWith('cellarbook_http_requests_total') && count > 0)

describe('the printed facts', () => {
  test('count stored readings, refusals and requests', async () => {
    const { key, keyId } = await service.createKey({ limit: { readings: 4, windowMs: 60_000 } })
    const { value: _, ...valueless } = validReading
    expect((await service.post(validReading, key)).status).toBe(200)
    expect((await service.post('{', key)).status).toBe(400)
    expect((await service.post(validReading, null)).status).toBe(401)
    expect((await service.postBatch([validReading, validReading, valueless], key)).status).toBe(207)
    expect((await service.postTo('/check', JSON.stringify(validReading), key)).status).toBe(200)
    expect((await fetch(`${service.url}/sign-in`)).status).toBe(200)
    expect((await fetch(`${service.url}/nothing/here`)).status).toBe(404)
    expect((await fetch(`${service.url}/keys/${keyId}`, { redirect: 'manual' })).status).toBe(303)
    expect((await fetch(`${service.url}/sign-in`, { headers: { Host: 'elsewhere.example' } })).status).toBe(421)
    expect((await fetch(`${service.url}/api/v1/nothing`)).status).toBe(401)
    await service.untilFolded(keyId, 3)
    const found = await samples()
    expect(found.get('cellarbook_readings_stored_total')).toBe(3)
    expect(found.get('cellarbook_readings_refused_total{code="MALFORMED_JSON"}')).toBe(1)
    expect(found.get('cellarbook_readings_refused_total{code="MISSING_FIELD"}')).toBe(1)
    expect(found.get('cellarbook_ingest_seconds_count{stage="whole"}')).toBe(3)
    expect(Object.fromEntries(requestsIn(found))).toEqual({
      'cellarbook_http_requests_total{route="/api/v1/ingest",code="200"}': 1,
      'cellarbook_http_requests_total{route="/api/v1/ingest",code="400"}': 1,
      'cellarbook_http_requests_total{route="/api/v1/ingest",code="401"}': 1,
      'cellarbook_http_requests_total{route="/api/v1/ingest/batch",code="207"}': 1,
      'cellarbook_http_requests_total{route="/api/v1/ingest/check",code="200"}': 1,
      'cellarbook_http_requests_total{route="/sign-in",code="200"}': 1,
      'cellarbook_http_requests_total{route="/sign-in",code="421"}': 1,
      'cellarbook_http_requests_total{route="/keys/:keyId",code="303"}': 1,
      'cellarbook_http_requests_total{route="/*",code="404"}': 1,
      'cellarbook_http_requests_total{route="/api/*",code="401"}': 1,
    })
  })

  test('begin with 0, so that Prometheus sees the first bug, refusal and wrong password', async () => {
    const found = await samples()
    expect(found.get('cellarbook_http_requests_total{route="/api/v1/ingest",code="500"}')).toBe(0)
    expect(found.get('cellarbook_http_requests_total{route="/keys/:keyId/revoke",code="500"}')).toBe(0)
    expect(found.get('cellarbook_readings_refused_total{code="STORE_UNAVAILABLE"}')).toBe(0)
    expect(found.get('cellarbook_readings_refused_total{code="KEY_REVOKED"}')).toBe(0)
    expect(found.get('cellarbook_sign_ins_refused_total{reason="wrong_password"}')).toBe(0)
  })

  test('count a device that disconnects during its body, and no bug', async () => {
    const { key } = await service.createKey()
    const connection = await rawConnect(service.url)
    const head = `Host: 127.0.0.1\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: 100`
    await connection.send(`POST /api/v1/ingest HTTP/1.1\r\n${head}\r\n\r\n{"cellar":`)
    await until(() => service.bodies.count === 1)
    connection.drop()
    await until(() => service.bodies.count === 0)
    await service.post(validReading, key)
    expect(Object.fromEntries(requestsIn(await samples()))).toEqual({
      'cellarbook_http_requests_total{route="/api/v1/ingest",code="200"}': 1,
      'cellarbook_http_requests_total{route="/api/v1/ingest",code="499"}': 1,
    })
  })

  test('count as refused only readings that should be stored, and each once', async () => {
    const { key } = await service.createKey()
    const { value: _, ...valueless } = validReading
    expect((await service.postBatch([valueless, valueless], key)).status).toBe(400)
    expect((await service.postTo('/check', JSON.stringify(valueless), key)).status).toBe(400)
    const checked = JSON.stringify({ readings: [valueless, valueless] })
    expect((await service.postTo('/batch/check', checked, key)).status).toBe(400)
    expect((await fetch(`${service.url}/api/v1/nothing`)).status).toBe(401)
    expect((await fetch(`${service.url}/api/v1/ingest`, { headers: { 'X-API-Key': key } })).status).toBe(405)
    const refused = [...(await samples())].filter(
      ([name, count]) => name.startsWith('cellarbook_readings_refused_total') && count > 0,
    )
    expect(refused).toEqual([['cellarbook_readings_refused_total{code="MISSING_FIELD"}', 2]])
  })

  test('count the latency of each stored reading, and of no repeat', async () => {
    const { key } = await service.createKey()
    const before = await samples()
    for (let times = 0; times < 2; times += 1) {
      await service.postBatch([validReading, validReading], key, { 'Idempotency-Key': 'batch' })
      await service.post(validReading, key, { 'Idempotency-Key': 'single' })
    }
    const after = await samples()
    for (const stage of ['wait', 'commit', 'whole']) {
      const name = `cellarbook_ingest_seconds_count{stage="${stage}"}`
      expect([stage, (after.get(name) ?? 0) - (before.get(name) ?? 0)]).toEqual([stage, 3])
    }
  })

  test('have cumulative buckets whose last one is the count', async () => {
    const { key } = await service.createKey()
    await service.post(validReading, key)
    const found = await samples()
    const buckets = [...found].filter(([name]) => name.startsWith('cellarbook_ingest_seconds_bucket{stage="commit"'))
    const counts = buckets.map(([, count]) => count)
    expect(counts).toEqual(counts.toSorted((a, b) => a - b))
    expect(buckets.at(-1)?.[0]).toEndWith('le="+Inf"}')
    expect(counts.at(-1)).toBe(found.get('cellarbook_ingest_seconds_count{stage="commit"}') ?? -1)
    expect(found.get('cellarbook_ingest_seconds_count{stage="commit"}')).toBeGreaterThan(0)
    expect(found.get('cellarbook_commit_group_events_sum')).toBeGreaterThan(0)
  })

  test('name no key, cellar, rack, keg or address', async () => {
    const { key, keyId } = await service.createKey({ label: 'label-of-key' })
    await service.post({ ...validReading, rack: 'name-of-rack', keg: 'name-of-keg' }, key)
    await service.post({ ...validReading, rack: 'name-of-rack', cellar: 'name-of-cellar' }, key)
    await fetch(`${service.url}/keys/${keyId}`)
    await fetch(`${service.url}/cellars/name-of-cellar/racks/name-of-rack`)
    await fetch(`${service.url}/api/name-of-rack`, { headers: { 'X-API-Key': key } })
    const text = await printed()
    expect(text).toContain('route="/cellars/:cellar/racks/:rack"')
    for (const name of [keyId, 'label-of-key', 'name-of-', 'wine-berlin', '127.0.0.1']) expect(text).not.toContain(name)
  })

  test('say during the start that the process runs, and is not ready', async () => {
    const lines = (await printedOf(null)).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
    expect(lines.map((line) => line.split(' ')[0])).toEqual([
      'cellarbook_ready',
      'process_start_time_seconds',
      'process_cpu_seconds_total',
      'process_resident_memory_bytes',
      'cellarbook_heap_bytes',
    ])
    expect(lines[0]).toBe('cellarbook_ready 0')
    expect(Number(lines[1]?.split(' ')[1])).toBeLessThan(loadedMs / 1_000)
  })

  test('leave out a fact that cannot be read, and report the bug', async () => {
    const bug = new Error('a fact that throws')
    const reasons = (): never => {
      throw bug
    }
    const text = await printedOf({ ...service.facts, reasons })
    expect(text).toContain('\ncellarbook_ready 1\n')
    expect(text).not.toContain('\ncellarbook_trouble{')
    expect(bugs).toEqual([bug])
  })

  test('have no lag for a model whose position is not known', async () => {
    const unknown = { name: 'readings', lag: null, progress: { position: null, isBehind: true, trouble: 'unreadable' } }
    const text = await printedOf({ ...service.facts, models: () => [unknown] })
    expect(text).toContain('\ncellarbook_model_ready{model="readings"} 0\n')
    expect(text).not.toContain('\ncellarbook_model_lag_positions')
  })

  test('say what the log, its models and the node are doing', async () => {
    await service.createKey()
    const found = await samples()
    expect(found.get('cellarbook_ready')).toBe(1)
    expect(found.get('cellarbook_log_available')).toBe(1)
    expect(found.get('cellarbook_model_ready{model="readings"}')).toBe(1)
    expect(found.get('cellarbook_trouble{reason="full"}')).toBe(0)
    expect(found.get('cellarbook_clock_trouble{kind="leapt"}')).toBe(0)
    expect(found.get('cellarbook_actors{kind="cellar"}')).toBe(1)
    expect(found.get('process_resident_memory_bytes')).toBeGreaterThan(1_000_000)
    expect(found.has('cellarbook_store_connections_total')).toBe(!isEmbedded)
  })
})

import { describe, expect, test } from 'bun:test'
import type { RecordedEvent } from '../../../../src/domain/events.ts'
import { keyStream, readingsStream } from '../../../../src/domain/stream-names.ts'
import { eventView } from '../../../../src/export/event-view.ts'
import { exportPageMs } from '../../../../src/export/export-page.ts'
import { exportFieldCharsMax } from '../../../../src/http/dashboard/exports/export-fields.ts'
import { connectionIdleSecondsMax } from '../../../../src/http/http-bounds.ts'
import { logReadPageEvents } from '../../../../src/limits.ts'
import { hostileTexts } from '../../../support/logs/sample-events.ts'
import { emailOf } from '../../../support/test-operators.ts'
import { type Service, testAsker, testCellar, validReading } from '../../../support/test-service.ts'
import { manualClock } from '../../../support/time/manual-clock.ts'
import { signedIn } from '../visitor.ts'
import { allOf, exportsOf, exportTests, fastLimit, pausing, postReadings } from './downloading.ts'

const { start } = exportTests()

const asLines = (events: readonly RecordedEvent[], added = {}): unknown =>
  events.map((event) => JSON.parse(JSON.stringify({ ...eventView(event), ...added })))

const linesOf = (body: string): unknown => {
  expect(body === '' || body.endsWith('\n')).toBe(true)
  return body
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
}

describe('an export', () => {
  test('of readings is equal to what the log holds', async () => {
    const service = await start()
    const { key, keyId } = await service.createKey({ limit: fastLimit })
    const other = await service.createKey()
    await service.post(validReading, other.key)
    for (const rack of hostileTexts.filter((text) => text !== '')) await service.post({ ...validReading, rack }, key)
    await postReadings(service, key, logReadPageEvents * 2 + 1)
    const auditor = await signedIn(service, 'auditor')
    const { status, headers, body } = await auditor.post('/exports', { list: 'readings', key: keyId, format: 'ndjson' })
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
    expect(headers.get('content-disposition')).toMatch(
      /^attachment; filename="cellarbook-readings-\d{8}T\d{6}Z\.ndjson"$/,
    )
    const stored = await allOf(service, readingsStream(keyId))
    expect(stored.length).toBeGreaterThan(logReadPageEvents * 2 + 1)
    expect(linesOf(body)).toEqual(asLines(stored, { unit: null }))
  })

  test('keeps the filters: times of acceptance, rack and keg', async () => {
    const service = await start()
    const { key, keyId } = await service.createKey({ limit: fastLimit })
    for (const rack of ['a', 'b', 'c']) {
      for (const keg of ['1', '2']) await service.post({ ...validReading, rack, keg }, key)
      service.clock.advance(60_000)
    }
    const auditor = await signedIn(service, 'auditor')
    const racksOf = async (fields: Readonly<Record<string, string>>): Promise<readonly string[]> => {
      const { body } = await auditor.post('/exports', { list: 'readings', cellar: testCellar, ...fields })
      return (linesOf(body) as { data: { rack: string; keg: string } }[]).map(({ data }) => data.rack + data.keg)
    }
    const [, second] = (await allOf(service, readingsStream(keyId))).filter(({ revision }) => revision % 2 === 0)
    const [since, afterwards] = [second?.recordedAt ?? 0, (second?.recordedAt ?? 0) + 60_000]
    expect(await racksOf({})).toEqual(['a1', 'a2', 'b1', 'b2', 'c1', 'c2'])
    expect(await racksOf({ since: new Date(since).toISOString(), until: new Date(afterwards).toISOString() })).toEqual([
      'b1',
      'b2',
    ])
    expect(await racksOf({ rack: 'c', keg: '2' })).toEqual(['c2'])
  })

  test('of a history has the key’s own events, its fences and no hash', async () => {
    const service = await start()
    const { keyId } = await service.createKey()
    await service.core.keys.suspend(keyId, 'lost', testAsker)
    await service.core.keys.revoke(keyId, 'stolen', testAsker)
    const admin = await signedIn(service, 'admin')
    const { body } = await admin.post('/exports', { list: 'history', key: keyId })
    const stored = [...(await allOf(service, keyStream(keyId))), ...(await allOf(service, readingsStream(keyId)))]
    expect(linesOf(body)).toEqual(asLines(stored.toSorted((a, b) => a.position - b.position)))
    expect(stored.map(({ type }) => String(type))).toContain('ReadingsSealed')
    expect(body).toContain('"secretHash":"[redacted]"')
  })

  test('of all events has each event once, in the order of the log', async () => {
    const service = await start()
    const { key } = await service.createKey()
    await service.post(validReading, key)
    const admin = await signedIn(service, 'admin')
    const stored = await service.log.readAll({ limit: 1_000 })
    const { body } = await admin.post('/exports', { list: 'events' })
    const [begun] = await exportsOf(service)
    expect(linesOf(body)).toEqual(asLines([...stored, ...(begun === undefined ? [] : [begun])]))
  })

  test('of a busy log ends with the last event of its beginning', async () => {
    const posting: { service: Service | null; key: string } = { service: null, key: '' }
    const wrapCore = pausing(async () => {
      await posting.service?.post(validReading, posting.key)
    })
    const service = await start({ wrapCore })
    const { key } = await service.createKey({ limit: fastLimit })
    await postReadings(service, key, logReadPageEvents * 3)
    const admin = await signedIn(service, 'admin')
    Object.assign(posting, { service, key })
    const { body } = await admin.post('/exports', { list: 'readings', cellar: testCellar })
    // One reading is posted before each page is read, also before the first one.
    expect((linesOf(body) as unknown[]).length).toBe(logReadPageEvents * 3 + 1)
  })

  test('that finds nothing for long keeps its connection open', async () => {
    let nowMs = 0
    const passedMs = (): number => (nowMs += exportPageMs)
    const service = await start({ wrapCore: pausing(async () => {}, passedMs) })
    const { key } = await service.createKey({ limit: fastLimit })
    await postReadings(service, key, 5_000)
    const admin = await signedIn(service, 'admin')
    const kept: number[] = []
    service.app.downloads.servedBy({ timeout: (_, seconds) => kept.push(seconds) })
    const { body } = await admin.post('/exports', { list: 'events', type: 'KeyRevoked' })
    expect(body).toBe('')
    expect(kept.length).toBeGreaterThanOrEqual(5)
    expect(new Set(kept)).toEqual(new Set([connectionIdleSecondsMax]))
  })

  test('as CSV cannot run as a formula, and numbers stay numbers', async () => {
    const service = await start()
    const { key, keyId } = await service.createKey({ label: '=1+1', note: 'says "no",\nthen @goes' })
    const racks = ['=cmd|1', '+1', '-1', '@a', '\uff1d1', 'a,b', 'a"b', 'plain']
    for (const rack of racks) await service.post({ ...validReading, rack, value: -2.5 }, key)
    const auditor = await signedIn(service, 'auditor')
    const readings = await auditor.post('/exports', { list: 'readings', cellar: testCellar, format: 'csv' })
    expect(readings.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present')
    const [head, ...rows] = readings.body.split('\r\n')
    expect(head).toBe('position,stream,revision,id,key,recordedAt,cellar,rack,keg,value,timestamp,requestId,unit')
    expect(rows.at(-1)).toBe('')
    const shown = ["'=cmd|1", "'+1", "'-1", "'@a", "'\uff1d1", '"a,b"', '"a""b"', 'plain']
    for (const [index, rack] of shown.entries())
      expect(rows[index]).toContain(`,${testCellar},${rack},temperature,-2.5,2026-03-01T12:00:00Z,`)
    const keys = await auditor.post('/exports', { list: 'keys', cellar: testCellar, format: 'csv' })
    expect(keys.body).toContain(`\r\n${keyId},${testCellar},'=1+1,"says ""no"",\nthen @goes",active,6000,60,,`)
  })

  test('as CSV cannot run as a formula where rows are split at semicolons', async () => {
    const service = await start()
    const { keyId } = await service.createKey({ label: 'press;=1+1', note: 'a;"=2+2"\n=3+3;b' })
    const auditor = await signedIn(service, 'auditor')
    const keys = await auditor.post('/exports', { list: 'keys', cellar: testCellar, format: 'csv' })
    expect(keys.body).toContain(`${keyId},${testCellar},press;'=1+1,"a;'""=2+2""\n'=3+3;b",active`)
    const events = await auditor.post('/exports', { list: 'events', type: 'KeyCreated', format: 'csv' })
    const data = /,"(\{.*\})"\r\n/.exec(events.body)?.[1]?.replaceAll('""', '"') ?? ''
    expect(data).not.toContain(';')
    expect(JSON.parse(data)).toMatchObject({ label: 'press;=1+1', note: 'a;"=2+2"\n=3+3;b' })
  })

  test('is recorded at its beginning and at its end', async () => {
    const service = await start()
    const { key, keyId } = await service.createKey()
    await service.post(validReading, key)
    await service.post(validReading, key)
    const auditor = await signedIn(service, 'auditor')
    await auditor.post('/exports', { list: 'readings', key: `clr_${keyId}_…`, rack: 'rack-17', format: 'csv' })
    const told = {
      list: 'readings',
      format: 'csv',
      filter: { key: keyId, rack: 'rack-17' },
      address: '127.0.0.1',
      why: null,
    }
    const [begun, ended, ...others] = await exportsOf(service)
    expect(begun?.data).toEqual({ phase: 'begun', begunRevision: null, rows: 0, ...told } as never)
    expect(ended?.data).toEqual({ phase: 'complete', begunRevision: 0, rows: 2, ...told } as never)
    expect(others).toEqual([])
    for (const event of [begun, ended])
      expect(event?.metadata.by).toMatchObject({ kind: 'operator', email: emailOf.auditor })
  })

  test('takes times as people say them, and records the instants', async () => {
    const clock = manualClock()
    const service = await start({ clock })
    const { key, keyId } = await service.createKey()
    for (const value of [1, 2, 3]) {
      await service.post({ ...validReading, value }, key)
      clock.advance(86_400_000)
    }
    clock.advance(-86_400_000)
    const auditor = await signedIn(service, 'auditor')
    const fields = { list: 'readings', key: keyId, since: 'yesterday', until: 'today', format: 'ndjson' }
    const { body } = await auditor.post('/exports', fields)
    expect(linesOf(body)).toMatchObject([{ data: { value: 2 } }])
    const [begun] = await exportsOf(service)
    const told = { since: '2026-03-02T00:00:00.000Z', until: '2026-03-03T00:00:00.000Z' }
    expect(begun?.data.filter).toMatchObject(told)
  })

  test('without a valid filter shows the form again and records nothing', async () => {
    const service = await start()
    const { keyId } = await service.createKey()
    const auditor = await signedIn(service, 'auditor')
    const refused = await auditor.post('/exports', { list: 'readings', key: keyId, since: '"><b>soon', format: 'csv' })
    expect(refused.status).toBe(422)
    expect(refused.body).toContain('value="&#34;><b>soon"')
    expect(refused.body).toContain('value="csv" checked')
    expect(refused.body).toContain(`name="key" value="${keyId}"`)
    expect((await auditor.post('/exports', { list: 'readings', key: 'nosuchk1' })).status).toBe(422)
    expect((await auditor.post('/exports', { list: 'everything' })).status).toBe(422)
    const stream = 'x'.repeat(exportFieldCharsMax + 1)
    expect((await auditor.post('/exports', { list: 'events', stream })).status).toBe(422)
    expect(await exportsOf(service)).toEqual([])
  })

  test('gives nothing out if its beginning cannot be recorded', async () => {
    const service = await start({
      wrapCore: (core) => ({
        ...core,
        recordExport: async () => ({ ok: false, refusal: { kind: 'store_unavailable' } }),
      }),
    })
    const admin = await signedIn(service, 'admin')
    const refused = await admin.post('/exports', { list: 'events' })
    expect([refused.status, refused.body.includes('LogCreated')]).toEqual([503, false])
    expect(service.app.downloads.count).toBe(0)
  })
})

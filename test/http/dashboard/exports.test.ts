import { afterEach, describe, expect, test } from 'bun:test'
import type { EventData, RecordedEvent } from '../../../src/domain/events.ts'
import { exportsStream, keyStream, readingsStream } from '../../../src/domain/stream-names.ts'
import { eventView } from '../../../src/export/event-view.ts'
import { atFullSpeed, type Pace } from '../../../src/export/export-pace.ts'
import { connectionIdleSecondsMax, logReadPageEvents } from '../../../src/limits.ts'
import { openFreshLog } from '../../support/logs/engine.ts'
import { passingLog } from '../../support/logs/passing-log.ts'
import { hostileTexts } from '../../support/logs/sample-events.ts'
import { rawConnect } from '../../support/raw-http.ts'
import { addOperator, emailOf, testPassword } from '../../support/test-operators.ts'
import { type Service, testAsker, testCellar, validReading } from '../../support/test-service.ts'
import { manualClock } from '../../support/time/manual-clock.ts'
import { until } from '../../support/time/until.ts'
import { signedIn, startWithOperators, type Visitor, visitor } from './visitor.ts'

const cleanUp: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of cleanUp.splice(0).toReversed()) await end()
})

const start = async (options: Parameters<typeof startWithOperators>[0] = {}): Promise<Service> => {
  const service = await startWithOperators({ exportPace: atFullSpeed, ...options })
  cleanUp.push(() => service.stop())
  return service
}

const fastLimit = { readings: 1_000_000, windowMs: 60_000 }

const postReadings = async (service: Service, key: string, count: number): Promise<void> => {
  for (let from = 0; from < count; from += 1_000) {
    const readings = Array.from({ length: Math.min(1_000, count - from) }, (_, index) => ({
      ...validReading,
      value: from + index,
    }))
    expect((await service.postBatch(readings, key)).status).toBe(200)
  }
}

const allOf = async (service: Service, stream: string): Promise<readonly RecordedEvent[]> => {
  const events: RecordedEvent[] = []
  for (;;) {
    const page = await service.log.read(stream, { from: events.length, limit: 1_000 })
    if (page.length === 0) return events
    events.push(...page)
  }
}

const exportsOf = async (service: Service): Promise<readonly RecordedEvent<'LogExported'>[]> =>
  (await allOf(service, exportsStream)).flatMap((event) => (event.type === 'LogExported' ? [event] : []))

const asLines = (events: readonly RecordedEvent[]): unknown =>
  events.map((event) => JSON.parse(JSON.stringify(eventView(event))))

const linesOf = (body: string): unknown => {
  expect(body === '' || body.endsWith('\n')).toBe(true)
  return body
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
}

/** Sends the form and does not read the answer. */
const download = async (service: Service, person: Visitor, fields: Readonly<Record<string, string>>) => {
  const csrf = /name="_csrf" value="([^"]*)"/.exec((await person.get('/cellars')).body)?.[1] ?? ''
  const leave = new AbortController()
  const answer = fetch(`${service.url}/exports`, {
    method: 'POST',
    headers: {
      Cookie: [...person.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      'Content-Type': 'application/x-www-form-urlencoded',
      'Sec-Fetch-Site': 'same-origin',
    },
    body: new URLSearchParams({ _csrf: csrf, format: 'ndjson', ...fields }).toString(),
    signal: leave.signal,
  }).then((response) => response.text())
  // A test that expects a broken download looks at the promise later.
  answer.catch(() => {})
  return { answer, leave }
}

/** Lets `pages` pages through, then holds all exports. */
const holdAfter = (pages: number): { readonly pace: Pace; release(): void; held(): number } => {
  let left = pages
  let heldCount = 0
  let release = (): void => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const pace: Pace = async (work) => {
    if (left === 0) {
      heldCount += 1
      await held
    } else left -= 1
    return work()
  }
  return { pace, release: () => release(), held: () => heldCount }
}

const lastEnd = async (service: Service): Promise<EventData<'LogExported'> | undefined> =>
  (await exportsOf(service)).at(-1)?.data

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
    expect(linesOf(body)).toEqual(asLines(stored))
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
    const exportPace: Pace = async (work) => {
      await posting.service?.post(validReading, posting.key)
      return work()
    }
    const service = await start({ exportPace })
    const { key } = await service.createKey({ limit: fastLimit })
    await postReadings(service, key, logReadPageEvents * 3)
    const admin = await signedIn(service, 'admin')
    Object.assign(posting, { service, key })
    const { body } = await admin.post('/exports', { list: 'readings', cellar: testCellar })
    // The pace posts one reading before the first page is read.
    expect((linesOf(body) as unknown[]).length).toBe(logReadPageEvents * 3 + 1)
  })

  test('that finds nothing for long keeps its connection open', async () => {
    const service = await start()
    const { key } = await service.createKey({ limit: fastLimit })
    await postReadings(service, key, logReadPageEvents * 5)
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
    expect(head).toBe('position,stream,revision,id,key,recordedAt,cellar,rack,keg,value,timestamp,requestId')
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

describe('exports at once', () => {
  test('are one for an operator and two in all', async () => {
    const [log, clock] = [await openFreshLog(), manualClock()]
    cleanUp.push(() => log.close())
    const third = 'eve@example.org'
    await addOperator(log, clock.now(), { email: third, role: 'auditor' })
    const { pace, release } = holdAfter(0)
    const service = await start({ log, clock, exportPace: pace })
    const [admin, auditor, eve] = [
      await signedIn(service, 'admin'),
      await signedIn(service, 'auditor'),
      visitor(service.url),
    ]
    await eve.get('/sign-in')
    await eve.post('/sign-in', { email: third, password: testPassword, next: '' })
    await eve.get('/cellars')
    const first = await download(service, admin, { list: 'events' })
    await until(() => service.app.downloads.count === 1)
    const own = await admin.post('/exports', { list: 'events' })
    expect([own.status, own.body.includes('Your other export is still running')]).toEqual([409, true])
    const second = await download(service, auditor, { list: 'events' })
    await until(() => service.app.downloads.count === 2)
    const full = await eve.post('/exports', { list: 'events' })
    expect([full.status, full.body.includes('Too many exports at once')]).toEqual([503, true])
    release()
    expect(await first.answer).toContain('LogExported')
    await second.answer
    await until(() => service.app.downloads.count === 0)
    expect((await eve.post('/exports', { list: 'events' })).status).toBe(200)
  })
})

describe('an export is cut off', () => {
  const startHeld = async () => {
    const { pace, release, held } = holdAfter(2)
    const service = await start({ exportPace: pace })
    // Before a test stops its service, held pages must go on.
    cleanUp.push(async () => release())
    const { key } = await service.createKey({ limit: fastLimit })
    await postReadings(service, key, logReadPageEvents * 4)
    const auditor = await signedIn(service, 'auditor')
    const { answer, leave } = await download(service, auditor, { list: 'readings', cellar: testCellar })
    await until(() => held() === 1)
    return { service, auditor, answer, leave, release }
  }

  const expectCutOff = async (service: Service, why: string): Promise<void> => {
    await until(() => service.app.downloads.count === 0)
    expect(await lastEnd(service)).toMatchObject({ phase: 'cut_off', begunRevision: 0, why })
  }

  test('when the session ends, and the download is broken', async () => {
    const { service, answer } = await startHeld()
    await service.core.operators.endSessions(emailOf.auditor, { allBut: null }, testAsker)
    await expectCutOff(service, 'the session ended')
    await expect(answer).rejects.toThrow()
  })

  test('when the session has expired without an event', async () => {
    const { service, answer, release } = await startHeld()
    service.clock.advance(13 * 3_600_000)
    release()
    await expectCutOff(service, 'the session ended')
    await expect(answer).rejects.toThrow()
  })

  test('when the client leaves, and the next export can begin', async () => {
    const { service, auditor, leave, release } = await startHeld()
    leave.abort()
    await expectCutOff(service, 'the client left')
    release()
    expect((await auditor.post('/exports', { list: 'keys' })).status).toBe(200)
  })

  test('when the service stops, and no other export begins', async () => {
    const { service, auditor, answer } = await startHeld()
    await service.app.downloads.close()
    await expectCutOff(service, 'the service stopped')
    await expect(answer).rejects.toThrow()
    expect((await auditor.post('/exports', { list: 'keys' })).status).toBe(503)
    expect(await exportsOf(service)).toHaveLength(2)
  })

  test('when the log cannot be read, with the reason in the log', async () => {
    const log = await openFreshLog()
    cleanUp.push(() => log.close())
    let mustFail = false
    const failing = {
      ...passingLog(log),
      readAll: async (options: Parameters<typeof log.readAll>[0]) => {
        if (mustFail && options.direction === undefined) throw new Error('a fault of the disk')
        return log.readAll(options)
      },
    }
    const service = await start({ log: failing })
    await service.createKey()
    const admin = await signedIn(service, 'admin')
    mustFail = true
    const { answer } = await download(service, admin, { list: 'events' })
    await expect(answer).rejects.toThrow()
    await expectCutOff(service, 'a fault of the disk')
  })
})

describe('the memory of an export', () => {
  test('is bounded: a browser that does not read stops the reading', async () => {
    const inner = await openFreshLog()
    cleanUp.push(() => inner.close())
    let pages = 0
    const log = {
      ...passingLog(inner),
      read: (stream: string, options: Parameters<typeof inner.read>[1]) => {
        if (stream.startsWith('readings-') && options.limit === logReadPageEvents) pages += 1
        return inner.read(stream, options)
      },
    }
    const service = await start({ log })
    const { key, keyId } = await service.createKey({ limit: fastLimit })
    const all = 150
    await postReadings(service, key, logReadPageEvents * all)
    const admin = await signedIn(service, 'admin')
    const csrf = /name="_csrf" value="([^"]*)"/.exec((await admin.get('/cellars')).body)?.[1] ?? ''
    const body = new URLSearchParams({ _csrf: csrf, list: 'readings', key: keyId, format: 'ndjson' }).toString()
    const connection = await rawConnect(service.url)
    connection.pause()
    await connection.send(
      `POST /exports HTTP/1.1\r\nHost: ${new URL(service.url).host}\r\nSec-Fetch-Site: same-origin\r\n` +
        `Cookie: ${[...admin.cookies].map(([name, value]) => `${name}=${value}`).join('; ')}\r\n` +
        `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    await until(() => pages > 1)
    let [seen, quietTurns] = [0, 0]
    await until(() => {
      quietTurns = pages === seen ? quietTurns + 1 : 0
      seen = pages
      return quietTurns > 20_000
    })
    // Sockets of the kernel hold some MB, and all pages together are several times as large.
    expect(pages).toBeLessThan(all / 2)
    expect(service.app.downloads.count).toBe(1)
    connection.drop()
    await until(() => service.app.downloads.count === 0)
    expect(await lastEnd(service)).toMatchObject({ phase: 'cut_off', why: 'the client left' })
  }, 30_000)
})

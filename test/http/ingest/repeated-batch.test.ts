import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Core } from '../../../src/actors/core-interface.ts'
import type { CellarPolicy } from '../../../src/domain/events.ts'
import { bodyHash, idempotencyKeyHash } from '../../../src/domain/reading/idempotency-key.ts'
import { readingsStream } from '../../../src/domain/stream-names.ts'
import { readingId } from '../../../src/domain/uuid.ts'
import { batchReadingsMax } from '../../../src/limits.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import { openSqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'
import { type Answer, acceptedReadings, answerOf, expectBatch, expectRefusal } from '../../support/answers.ts'
import { derivedHere } from '../../support/derived/derived-here.ts'
import { openFreshLog } from '../../support/logs/engine.ts'
import { reading } from '../../support/logs/sample-events.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { type Service, startService, testAsker, testCellar, validReading } from '../../support/test-service.ts'
import { type ManualClock, manualClock } from '../../support/time/manual-clock.ts'

const at = (timestamp: string) => ({ ...validReading, timestamp })
/** Between two valid readings, there is one item for each refusal. The clock shows 12:00. */
const items = [
  validReading,
  7,
  at('2026-03-01T10:00:00Z'),
  at('2026-03-01T12:02:00Z'),
  { ...validReading, cellar: 'other' },
  { ...validReading, keg: '' },
  { rack: 'r' },
  { ...validReading, value: '1' },
  at('noon'),
  at('2025-02-30T00:00:00Z'),
  at('2026-03-01T11:59:00Z'),
]
const policy: CellarPolicy = { limit: null, readingAgeMsMax: 3_600_000, readingAheadMsMax: 60_000, retentionMs: null }
const hourMs = 3_600_000

/** A repeat can come after an update, so the answer stays the same in every version. */
const answerToItems = JSON.stringify({
  status: 'partial',
  message: '2 readings stored, 9 refused.',
  accepted: 2,
  rejected: 9,
  timestamp: '2026-03-01T12:00:00Z',
  errors: [
    ['INVALID_BODY', 'reading must be a JSON object: send cellar, rack, keg, value and timestamp as its fields.'],
    [
      'TIMESTAMP_TOO_OLD',
      'timestamp must be at most 3600 seconds old in this cellar: skip the reading, or ask an admin to allow older readings.',
    ],
    ['TIMESTAMP_IN_FUTURE', "timestamp must be at most 60 seconds ahead in this cellar: correct the device's clock."],
    [
      'CELLAR_MISMATCH',
      'cellar must be "wine-berlin", the cellar of this API key: send that name, or use a key of the other cellar.',
    ],
    ['INVALID_NAME', 'keg must not be blank: send 1 to 128 characters.'],
    [
      'MISSING_FIELD',
      'cellar, keg, value and timestamp are missing: every reading needs cellar, rack, keg, value and timestamp.',
    ],
    ['INVALID_TYPE', 'value must be a JSON number: send it without quotes, or skip the reading if it has no value.'],
    [
      'INVALID_TIMESTAMP',
      'timestamp must have the form YYYY-MM-DDThh:mm:ssZ, in UTC, with at most 9 fractional digits: send it like 2025-03-01T12:00:00Z.',
    ],
    [
      'INVALID_TIMESTAMP',
      'timestamp must be a date and a time that exist, with months 01-12, hours 00-23, minutes and seconds 00-59: send it like 2025-03-01T12:00:00Z.',
    ],
  ].map(([code, error], index) => ({ index: index + 1, code, error })),
})

let clock: ManualClock
let log: EventLog
let service: Service
beforeEach(async () => {
  clock = manualClock()
  log = await openFreshLog()
  service = await startService({ log, clock })
})
afterEach(async () => {
  await service.stop()
  await log.close()
})

const postBatch = async (key: string, readings: readonly unknown[] = items): Promise<Answer> =>
  answerOf(await service.postBatch(readings, key, { 'Idempotency-Key': 'one' }))

const setPolicy = (changes: Partial<CellarPolicy>) => service.core.cellars.changePolicy(testCellar, changes, testAsker)

const expectRepeatOf = (first: Answer, answer: Answer): void => {
  expect(answer.header('Idempotent-Replayed')).toBe('true')
  expect([answer.status, answer.body, answer.header('X-Receipt')]).toEqual([
    first.status,
    first.body,
    first.header('X-Receipt'),
  ])
}

describe('a repeated batch gets the first answer', () => {
  const changes: [title: string, changes: Partial<CellarPolicy>, laterMs: number][] = [
    ['a second later', {}, 1_000],
    ['23 hours later', {}, 23 * hourMs],
    ['when the bounds were lifted', { readingAgeMsMax: null, readingAheadMsMax: null }, 0],
    ['when the bounds refuse all of it', { readingAgeMsMax: 0, readingAheadMsMax: 0 }, hourMs],
    ['when readings are kept for a day only', { readingAgeMsMax: null, retentionMs: 24 * hourMs }, 23 * hourMs],
  ]
  test.each(changes)('%s', async (_, changed, laterMs) => {
    const { key } = await service.createKey()
    await setPolicy(policy)
    const first = await postBatch(key)
    expect(first.body).toBe(answerToItems)
    await setPolicy(changed)
    clock.advance(laterMs)
    expectRepeatOf(first, await postBatch(key))
    await service.stop()
    service = await startService({ log, clock, seed: 2 })
    expectRepeatOf(first, await postBatch(key))
    expect(await acceptedReadings(log)).toHaveLength(2)
  })

  test('without a known cellar at first', async () => {
    const { key } = await service.createKey()
    await setPolicy(policy)
    await service.stop()
    service = await startService({ log, clock, seed: 2, wrapCore: withoutCellars })
    const first = await postBatch(key)
    expect(expectBatch(first, 207)).toMatchObject({ accepted: 4, rejected: 7 })
    await service.stop()
    service = await startService({ log, clock, seed: 3 })
    expectRepeatOf(first, await postBatch(key))
  })

  test('when all would be refused now', async () => {
    const { key } = await service.createKey()
    const valid = [validReading, at('2026-03-01T10:00:00Z')]
    const first = await postBatch(key, valid)
    expectBatch(first, 200)
    await setPolicy({ readingAgeMsMax: 0 })
    clock.advance(hourMs)
    expectRepeatOf(first, await postBatch(key, valid))
  })
})

const withoutCellars = (core: Core): Core => ({
  ...core,
  projections: { ...core.projections, cellars: { ...core.projections.cellars, get: () => null } },
})

/** The valid readings of `items` and the hashes of the request, as a node stores them. */
const storedBatch = (keyId: string, key: string) => {
  const stream = readingsStream(keyId)
  const requestId = crypto.randomUUID()
  const ids = { requestId, correlationId: requestId, causationId: requestId }
  const readings = ['2026-03-01T12:00:00Z', '2026-03-01T11:59:00Z'].map((timestamp, index) => {
    const event = reading(stream, at(timestamp))
    return { ...event, id: readingId(requestId, index), metadata: { ...event.metadata, ...ids } }
  })
  const body = new TextEncoder().encode(JSON.stringify({ readings: items }))
  return { stream, readings, keyHash: idempotencyKeyHash(key) ?? '', bodyHash: bodyHash(body) }
}

test('a batch that newer rules judged gets a 503', async () => {
  const { key, keyId } = await service.createKey()
  await setPolicy(policy)
  const { stream, readings, ...hashes } = storedBatch(keyId, 'one')
  const bounds = { readingAgeMsMax: hourMs, readingAheadMsMax: 60_000, retentionMs: null }
  const refusals = { rejected: 9, rules: 2, atMs: clock.now(), bounds }
  const idempotency = { ...hashes, batch: { accepted: 2, refusals } }
  const events = readings.map((event, index) =>
    index === 0 ? { ...event, metadata: { ...event.metadata, idempotency } } : event,
  )
  await log.append(stream, 'none', events)
  await service.stop()
  service = await startService({ log, clock, seed: 2 })
  expectRefusal(await postBatch(key), 503, 'STORE_UNAVAILABLE')
  expect(await acceptedReadings(log)).toHaveLength(2)
})

describe('on the embedded log', () => {
  type Opened = { readonly log: EventLog; readonly service: Service }
  const open = async (dataDir: string, seed: number): Promise<Opened> => {
    const own = openSqliteLog({ dataDir })
    const derived = derivedHere(own, { clock, folder: { path: dataDir, remove: () => {} } })
    return { log: own, service: await startService({ log: own, derived, clock, seed }) }
  }
  const close = async (opened: Opened): Promise<void> => {
    await opened.service.stop()
    await opened.log.close()
  }

  test('a batch with 999 refused readings takes at most 1 KiB', async () => {
    const folder = temporaryFolder()
    const opened = await open(folder.path, 1)
    const { key } = await opened.service.createKey({ limit: { readings: 10_000_000, windowMs: 60_000 } })
    const json = JSON.stringify({ readings: [validReading, ...new Array<number>(batchReadingsMax - 1).fill(0)] })
    const body = Bun.gzipSync(json)
    const requests = 300
    for (let count = 0; count < requests; count += 1) {
      const headers = { 'Content-Encoding': 'gzip', 'Idempotency-Key': crypto.randomUUID() }
      const answer = await opened.service.postBatch(body, key, headers)
      expect(answer.status).toBe(207)
      await answer.arrayBuffer()
    }
    await close(opened)
    const names = readdirSync(folder.path).filter((name) => /^(log|idempotency)/.test(name))
    const bytes = names.map((name) => statSync(join(folder.path, name)).size)
    expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(requests * 1_024)
    folder.remove()
  })
})

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { setImmediate as turn } from 'node:timers/promises'
import { idempotencyKeyCharsMax, idempotencyMs } from '../../../src/limits.ts'
import {
  type Answer,
  acceptedReadings,
  answerOf,
  expectAccepted,
  expectBatch,
  expectRefusal,
  expectUnauthorized,
} from '../../support/answers.ts'
import { openFreshLog } from '../../support/logs/engine.ts'
import { type FaultyLog, faultyLog } from '../../support/logs/faulty-log.ts'
import { rawExchange } from '../../support/raw-http.ts'
import { type Service, startService, testAsker, validReading } from '../../support/test-service.ts'

let log: FaultyLog
let service: Service
let key: string
beforeEach(async () => {
  log = faultyLog(await openFreshLog())
  service = await startService({ log })
  key = (await service.createKey()).key
})
afterEach(async () => {
  log.comeBack()
  await service.stop()
  await log.close()
})

const keyed = (text: string) => ({ 'Idempotency-Key': text })
const post = async (text: string, body: unknown = validReading, apiKey = key) =>
  answerOf(await service.post(body, apiKey, keyed(text)))
const postBatch = async (text: string, readings: readonly unknown[], apiKey = key) =>
  answerOf(await service.postBatch(readings, apiKey, keyed(text)))

const expectReplayOf = (first: Answer, answer: Answer): void => {
  expect(first.header('Idempotent-Replayed')).toBeNull()
  expect(answer.header('Idempotent-Replayed')).toBe('true')
  expect([answer.status, answer.body, answer.header('X-Receipt')]).toEqual([
    first.status,
    first.body,
    first.header('X-Receipt'),
  ])
  expect(answer.header('X-Request-Id')).not.toBe(first.header('X-Request-Id'))
}

const countStored = async (): Promise<number> => (await acceptedReadings(log)).length

describe('a repeat', () => {
  test('gets status, body and receipt of the first request, and costs nothing', async () => {
    const first = await post('one')
    expectAccepted(first)
    service.clock.advance(61_500)
    await service.post(validReading, key)
    const again = await post('one')
    expectReplayOf(first, again)
    expect(again.header('RateLimit')).toBe('"default";r=5999;t=60')
    expect(await countStored()).toBe(2)
  })

  test('gets its answer although the window is full', async () => {
    const full = (await service.createKey({ limit: { readings: 1, windowMs: 60_000 } })).key
    const first = await post('one', validReading, full)
    expectReplayOf(first, await post('one', validReading, full))
    expectRefusal(await post('two', validReading, full), 429, 'RATE_LIMITED')
    expectRefusal(await answerOf(await service.post(validReading, full)), 429, 'RATE_LIMITED')
  })

  test('gets its 207 although the cellar would refuse more now', async () => {
    const policy = { limit: null, readingAgeMsMax: 3_600_000, readingAheadMsMax: null, retentionMs: null }
    await service.core.cellars.changePolicy(validReading.cellar, policy, testAsker)
    const at = (timestamp: string) => ({ ...validReading, timestamp })
    const items = [
      at('2026-03-01T11:30:00Z'),
      7,
      at('2026-03-01T10:00:00Z'),
      { ...validReading, cellar: 'other' },
      { ...validReading, keg: '' },
      { rack: 'r' },
      { ...validReading, value: '1' },
      { ...validReading, timestamp: 'noon' },
      at('2026-03-01T11:59:00Z'),
    ]
    const first = await postBatch('one', items)
    expect(expectBatch(first, 207)).toMatchObject({ accepted: 2, rejected: 7 })
    expect(expectBatch(first, 207).errors[1]?.error).toContain('at most 3600 seconds old')
    service.clock.advance(3_000_000)
    expectReplayOf(first, await postBatch('one', items))
    await service.core.cellars.changePolicy(validReading.cellar, { ...policy, readingAgeMsMax: 1_000 }, testAsker)
    expectReplayOf(first, await postBatch('one', items))
    expectBatch(await postBatch('two', items), 400)
    expect(await countStored()).toBe(2)
  })

  test('gets its 200 although the reading is too old now', async () => {
    const first = await post('one')
    const policy = { limit: null, readingAgeMsMax: 1_000, readingAheadMsMax: null, retentionMs: null }
    await service.core.cellars.changePolicy(validReading.cellar, policy, testAsker)
    service.clock.advance(2_000)
    expectReplayOf(first, await post('one'))
    expectRefusal(await post('two'), 400, 'TIMESTAMP_TOO_OLD')
  })

  test('gets its 200 although the batch is over the limit now', async () => {
    const { key: limited, keyId } = await service.createKey({ limit: { readings: 3, windowMs: 60_000 } })
    const three = [validReading, validReading, validReading]
    const first = await postBatch('one', three, limited)
    expectBatch(first, 200)
    await service.core.keys.setLimit(keyId, { readings: 2, windowMs: 60_000 }, testAsker)
    expectReplayOf(first, await postBatch('one', three, limited))
    service.clock.advance(120_000)
    expectRefusal(await postBatch('two', three, limited), 400, 'BATCH_TOO_LARGE')
  })

  test('is stored again a day later', async () => {
    await post('one')
    service.clock.advance(idempotencyMs)
    // A restarted node trusts the time of the newest event at once. Without a restart, the node would trust the new time only
    // after half a day of heartbeats.
    const { key: other } = await service.createKey()
    expectAccepted(await post('one', validReading, other))
    await service.stop()
    service = await startService({ log, clock: service.clock, seed: 2 })
    const later = await post('one')
    expectAccepted(later)
    expect(later.header('Idempotent-Replayed')).toBeNull()
    expect(await countStored()).toBe(3)
  })

  test('is stored again under another API key', async () => {
    await post('one')
    const other = (await service.createKey()).key
    const answer = await post('one', { ...validReading, value: 2 }, other)
    expectAccepted(answer)
    expect(answer.header('Idempotent-Replayed')).toBeNull()
  })

  test('is a 401 once its API key is revoked', async () => {
    const revoked = await service.createKey()
    await post('one', validReading, revoked.key)
    await service.core.keys.revoke(revoked.keyId, '', testAsker)
    expectUnauthorized(await post('one', validReading, revoked.key), 'Invalid API key')
  })

  test('is known after a restart, from the log alone', async () => {
    const first = await postBatch('one', [validReading, 7])
    await service.stop()
    service = await startService({ log, clock: service.clock, seed: 2 })
    expectReplayOf(first, await postBatch('one', [validReading, 7]))
    expect(await countStored()).toBe(1)
  })
})

test('a repeat may be packed differently from the first request', async () => {
  const body = JSON.stringify(validReading)
  const first = await post('one', body)
  for (const level of [1, 9] as const) {
    const headers = { ...keyed('one'), 'Content-Encoding': 'gzip' }
    expectReplayOf(first, await answerOf(await service.post(Bun.gzipSync(body, { level }), key, headers)))
  }
  expect(await countStored()).toBe(1)
})

describe('422 IDEMPOTENCY_KEY_REUSED', () => {
  test('answers another payload, and stores nothing', async () => {
    await post('one')
    const text = expectRefusal(await post('one', `${JSON.stringify(validReading)} `), 422, 'IDEMPOTENCY_KEY_REUSED')
    expect(text).toStartWith('Idempotency-Key must be new for every new payload')
    expectRefusal(await post('one', { ...validReading, value: 2 }), 422, 'IDEMPOTENCY_KEY_REUSED')
    expect(await countStored()).toBe(1)
  })

  test('answers the same bytes at the other endpoint', async () => {
    const both = { ...validReading, readings: [validReading] }
    expectAccepted(await post('one', both))
    expectBatch(await answerOf(await service.postBatch(JSON.stringify(both), key, keyed('two'))), 200)
    const batch = await answerOf(await service.postBatch(JSON.stringify(both), key, keyed('one')))
    expectRefusal(batch, 422, 'IDEMPOTENCY_KEY_REUSED')
    expectRefusal(await post('two', both), 422, 'IDEMPOTENCY_KEY_REUSED')
  })

  test('is not the answer after a refused request', async () => {
    expectRefusal(await post('one', { ...validReading, value: 'x' }), 400, 'INVALID_TYPE')
    expectBatch(await postBatch('one', [7]), 400)
    log.failAppend({ fault: 'not_written' })
    expectRefusal(await post('one'), 503, 'STORE_UNAVAILABLE')
    expectAccepted(await post('one', { ...validReading, value: 2 }))
  })
})

describe('409 IDEMPOTENCY_IN_PROGRESS', () => {
  test('answers until the first request has its answer', async () => {
    expectAccepted(await post('first'))
    const held = log.hold('before')
    const running = post('one')
    while (held.waiting === 0) await turn()
    expect(expectRefusal(await post('one'), 409, 'IDEMPOTENCY_IN_PROGRESS')).toEndWith('again after 1 second.')
    for (const refused of [await post('one'), await postBatch('one', [validReading])]) {
      expectRefusal(refused, 409, 'IDEMPOTENCY_IN_PROGRESS')
      expect(refused.header('Retry-After')).toBe('1')
    }
    held.release()
    expectReplayOf(await running, await post('one'))
  })

  test('answers all but one of many parallel requests', async () => {
    expectAccepted(await post('first'))
    const held = log.hold('before')
    const sent = Array.from({ length: 20 }, () => post('one'))
    while (held.waiting === 0) await turn()
    held.release()
    const answers = await Promise.all(sent)
    const statuses = answers.map(({ status, header }) => `${status} ${header('Idempotent-Replayed')}`)
    expect(statuses.filter((status) => status === '200 null')).toHaveLength(1)
    expect(statuses.filter((status) => !/^(409 null|200 true|200 null)$/.test(status))).toEqual([])
    expect(await countStored()).toBe(2)
  })
})

describe('400 INVALID_IDEMPOTENCY_KEY', () => {
  test.each([
    ['empty', ''],
    ['one character too long', 'x'.repeat(idempotencyKeyCharsMax + 1)],
    ['not ASCII', 'Köln'],
    ['a tab in the middle', 'a\tb'],
    ['a delete character', 'a\x7fb'],
  ])('answers a key that is %s', async (_, text) => {
    const body = JSON.stringify(validReading)
    const head = [
      'POST /api/v1/ingest HTTP/1.1',
      'Host: localhost',
      `X-API-Key: ${key}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      `Idempotency-Key: ${text}`,
    ]
    const [refusal] = await rawExchange(service.url, `${head.join('\r\n')}\r\n\r\n${body}`)
    if (refusal === undefined) throw new Error('there was no answer')
    const { status, headers } = refusal
    const header = (name: string) => headers.get(name.toLowerCase()) ?? null
    expect(expectRefusal({ status, body: refusal.body, header }, 400, 'INVALID_IDEMPOTENCY_KEY')).toStartWith(
      'Idempotency-Key must be 1 to 255',
    )
    expect(await countStored()).toBe(0)
  })

  test.each([
    ['one character', '~'],
    ['as long as allowed', 'x'.repeat(idempotencyKeyCharsMax)],
    ['quoted', '"8e03978e 40d5"'],
  ])('does not answer a key that is %s', async (_, text) => {
    const first = await post(text)
    expectAccepted(first)
    expectReplayOf(first, await post(text))
  })
})

test('the log does not contain the text of an Idempotency-Key', async () => {
  await post(key)
  await postBatch(`batch of ${key}`, [validReading])
  expect(JSON.stringify(await log.readAll({ limit: 100 }))).not.toContain(key)
})

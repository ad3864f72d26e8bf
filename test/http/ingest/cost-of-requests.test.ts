import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { readingBodyBytesMax } from '../../../src/http/http-bounds.ts'
import { packedBodyBytesMax } from '../../../src/http/ingest/checks-after-the-key.ts'
import { storedReadingBytesMax } from '../../../src/http/ingest/request-costs.ts'
import {
  type Answer,
  answerOf,
  expectAccepted,
  expectBatch,
  expectRefusal,
  expectUnauthorized,
} from '../../support/answers.ts'
import { type Service, startService, testAsker, validReading } from '../../support/test-service.ts'
import { until } from '../../support/time/until.ts'
import { packedTo } from './packed-to.ts'

let service: Service
let key: string
let keyId: string
beforeEach(async () => {
  service = await startService()
  ;({ key, keyId } = await service.createKey())
})
afterEach(() => service.stop())

const code = 'RATE_LIMITED'
const post = async (body: unknown, headers: Record<string, string> = {}) =>
  answerOf(await service.post(body, key, headers))
const postBatch = async (
  readings: readonly unknown[] | string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
) => answerOf(await service.postBatch(readings, key, headers))

const gzip = { 'Content-Encoding': 'gzip' }
const megabyte = 'x'.repeat(1_000_000)

/** Sends 4,000,000 bytes, which is more than the full budget of 3,840,000 bytes. */
const emptyBudget = async (): Promise<void> => {
  for (let sent = 0; sent < 4; sent += 1) expectRefusal(await postBatch(megabyte), 400, 'MALFORMED_JSON')
}

/** Returns the number of requests that get a 404 before the budget is empty. Later requests get a 429. */
const requestsLeft = async (asked = service): Promise<number> => {
  for (let left = 0; ; left += 100) {
    const answers = await Promise.all(Array.from({ length: 100 }, () => unknownPath(asked)))
    const refused = answers.filter((answer) => answer.status === 429).length
    if (refused > 0) return left + 100 - refused
  }
}

const unknownPath = async (asked = service): Promise<Answer> =>
  answerOf(await fetch(`${asked.url}/api/v1/readings`, { method: 'POST', headers: { 'X-API-Key': key } }))

describe('requests that store nothing', () => {
  test('get a 429 before their body when the bytes are spent', async () => {
    await emptyBudget()
    const before = { ...service.work }
    const refused = await postBatch(megabyte)
    // The requests exceed the budget by 160,000 bytes, and 64,000 come back each second. That takes 2.5 s, rounded up.
    expect(refused.header('Retry-After')).toBe('3')
    expect(expectRefusal(refused, 429, code)).toBe(
      'X-API-Key has used up its budget for requests that store nothing, which grows by 100 requests and 64000 bytes a second: correct the requests that are refused, and send again after 3 seconds.',
    )
    expectRefusal(await post(validReading), 429, code)
    expectRefusal(await post(validReading, { 'Idempotency-Key': 'new' }), 429, code)
    expect(service.work).toEqual(before)

    service.clock.advance(3_000)
    expectAccepted(await post(validReading))
  })

  test('get a 429 once they are 6,000, on wrong paths too', async () => {
    expect(await requestsLeft()).toBe(6_000)
    expectRefusal(await unknownPath(), 429, code)
    const get = await fetch(`${service.url}/api/v1/ingest`, { headers: { 'X-API-Key': key } })
    expectRefusal(await answerOf(get), 429, code)
    service.clock.advance(11)
    expectRefusal(await unknownPath(), 404, 'NOT_FOUND')
  })

  test('are charged to their own key alone', async () => {
    await emptyBudget()
    expectRefusal(await post(validReading), 429, code)
    const other = await service.createKey()
    expectAccepted(await answerOf(await service.post(validReading, other.key)))
  })

  test('are refused before their body is unpacked', async () => {
    let release = (): void => {}
    const held = new ReadableStream({
      start: (controller) => {
        release = () => {
          controller.enqueue(Bun.gzipSync(JSON.stringify(validReading)))
          controller.close()
        }
      },
    })
    const headers = { 'X-API-Key': key, 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' }
    const late = fetch(`${service.url}/api/v1/ingest`, { method: 'POST', headers, body: held })
    await until(() => service.work.bodiesRead === 1)
    await emptyBudget()
    const before = { ...service.work }
    release()
    expectRefusal(await answerOf(await late), 429, code)
    expect(service.work).toEqual(before)
  })

  test('cost one request as 429, and nothing as 401', async () => {
    await service.core.keys.setLimit(keyId, { readings: 1, windowMs: 60_000 }, testAsker)
    expectAccepted(await post(validReading))
    for (let sent = 0; sent < 10; sent += 1) expectRefusal(await post(validReading), 429, code)
    await service.core.keys.suspend(keyId, '', testAsker)
    for (let sent = 0; sent < 10; sent += 1) expectUnauthorized(await post('x'), 'Invalid API key')
    await service.core.keys.resume(keyId, '', testAsker)
    expect(await requestsLeft()).toBe(5_990)
  })

  test('cost one request for each 100 refused readings, rounded up', async () => {
    expectBatch(await postBatch([validReading, ...Array(100).fill(7)]), 207)
    expectBatch(await postBatch([validReading, ...Array(101).fill(7)]), 207)
    expectBatch(await postBatch(Array(999).fill(7)), 400)
    expect(await requestsLeft()).toBe(6_000 - 1 - 2 - 10)
  })

  test('cost a repeat one request and its body', async () => {
    const headers = { 'Idempotency-Key': 'again' }
    const body = JSON.stringify({ readings: [validReading] }).padEnd(1_000_000)
    expectBatch(await postBatch(body, headers), 200)
    for (let sent = 0; sent < 3; sent += 1) {
      const repeat = await postBatch(body, headers)
      expect([repeat.status, repeat.header('Idempotent-Replayed')]).toEqual([200, 'true'])
    }
    // The budget is empty. The three repeats were charged, and also the first body, except for its reading.
    expectRefusal(await postBatch(body, headers), 429, code)
  })

  test('cost a stored batch the bytes besides its readings', async () => {
    const body = (bytes: number) => JSON.stringify({ readings: [validReading, validReading] }).padEnd(bytes)
    for (let sent = 0; sent < 3; sent += 1) expectBatch(await postBatch(body(1_004_096)), 200)
    expectBatch(await postBatch(body(844_095)), 200)
    expectBatch(await postBatch(body(4_097)), 200)
    expectRefusal(await postBatch(body(4_096)), 429, code)
  })

  const batch = JSON.stringify({ readings: [validReading] })
  const reading = JSON.stringify(validReading)
  test.each([
    ['batch', async (bytes: number) => postBatch(packedTo(bytes, batch), gzip), packedBodyBytesMax],
    ['reading', async (bytes: number) => post(packedTo(bytes, reading), gzip), readingBodyBytesMax],
  ])('cost a packed %s eight times its packed bytes, besides its readings', async (_, send, bytesMax) => {
    const free = storedReadingBytesMax / 8
    let left = 3_840_000
    for (let bytes = bytesMax; left > 8; bytes = Math.min(bytesMax, free + (left - 8) / 8)) {
      expect((await send(bytes)).status).toBe(200)
      left -= 8 * (bytes - free)
    }
    expect((await send(free)).status).toBe(200)
    expect((await send(free + 1)).status).toBe(200)
    expectRefusal(await send(free), 429, code)
  })

  test('cost nothing when the store fails', async () => {
    const other = await startService({
      wrapCore: (core) => ({
        ...core,
        keys: { ...core.keys, accept: async () => ({ ok: false, refusal: { kind: 'store_unavailable' } }) },
      }),
    })
    ;({ key } = await other.createKey())
    const body = JSON.stringify({ readings: [validReading] }).padEnd(1_000_000)
    for (let sent = 0; sent < 6; sent += 1) {
      expectRefusal(await answerOf(await other.postBatch(body, key)), 503, 'STORE_UNAVAILABLE')
    }
    expect(await requestsLeft(other)).toBe(6_000)
    await other.stop()
  })
})

describe('refused requests with an Idempotency-Key', () => {
  test('are charged before the actor answers', async () => {
    const answered = Promise.withResolvers<void>()
    const other = await startService({
      wrapCore: (core) => ({
        ...core,
        keys: {
          ...core.keys,
          acceptIdempotent: async (_, __, { refusal }) => {
            await answered.promise
            return { ok: false, refusal: refusal ?? { kind: 'internal_error' } }
          },
        },
      }),
    })
    const created = await other.createKey()
    const body = JSON.stringify({ readings: [7] }).padEnd(1_000_000)
    const posts = Array.from({ length: 10 }, (_, index) =>
      other.postBatch(body, created.key, { 'Idempotency-Key': String(index) }),
    )
    const early = await Promise.race(posts)
    expect(early.status).toBe(429)
    answered.resolve()
    const statuses = (await Promise.all(posts)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 400).length).toBe(4)
    expect(other.work.bodiesParsed).toBe(4)
    await other.stop()
  })
})

describe('a full disk and an Idempotency-Key', () => {
  test('charge a repeat only', async () => {
    let isFull = false
    const other = await startService({
      wrapCore: (core) => ({ ...core, log: Object.create(core.log, { refusesReadings: { get: () => isFull } }) }),
    })
    ;({ key } = await other.createKey())
    const body = JSON.stringify({ readings: [validReading] }).padEnd(1_000_000)
    const send = async (name: string) => answerOf(await other.postBatch(body, key, { 'Idempotency-Key': name }))
    expectBatch(await send('first'), 200)
    isFull = true
    const before = other.work.bodiesRead
    for (let sent = 0; sent < 5; sent += 1) expectRefusal(await send('new'), 503, 'STORAGE_FULL')
    expect(other.work.bodiesRead).toBe(before)
    for (let sent = 0; sent < 3; sent += 1) expectBatch(await send('first'), 200)
    expectRefusal(await send('first'), 503, 'STORAGE_FULL')
    expect(other.work.bodiesRead).toBe(before + 3)
    await other.stop()
  })
})

describe('a fleet with one key', () => {
  test('loses no valid reading to 5% of bad ones', async () => {
    for (let second = 0; second < 120; second += 1) {
      const sent = Array.from({ length: 20 }, (_, device) =>
        post(device === 7 ? { ...validReading, value: 'x' } : validReading),
      )
      const statuses = (await Promise.all(sent)).map((answer) => answer.status)
      expect(statuses.filter((status) => status === 200).length).toBe(19)
      expect(statuses.filter((status) => status === 400).length).toBe(1)
      service.clock.advance(1_000)
    }
  })
})

describe('a full window and an Idempotency-Key', () => {
  const keyed = (name: string) => ({ 'Idempotency-Key': name })

  beforeEach(async () => {
    await service.core.keys.setLimit(keyId, { readings: 1, windowMs: 60_000 }, testAsker)
    expectAccepted(await post(validReading, keyed('first')))
  })

  test('answer 429 to other requests before the body', async () => {
    const before = { ...service.work }
    for (const name of ['second', 'third']) expectRefusal(await post(validReading, keyed(name)), 429, code)
    expect(service.work).toEqual(before)
  })

  test('answer 429 if the budget is empty', async () => {
    for (let sent = 0; sent < 4; sent += 1) {
      await postBatch(megabyte)
      await postBatch(megabyte, keyed('first'))
    }
    const before = { ...service.work }
    expectRefusal(await post(validReading, keyed('first')), 429, code)
    expect(service.work).toEqual(before)
  })

  test('answer a repeat like the first request', async () => {
    const repeat = await post(validReading, keyed('first'))
    expectAccepted(repeat)
    expect(repeat.header('Idempotent-Replayed')).toBe('true')
    expectRefusal(await post({ ...validReading, value: 1 }, keyed('first')), 422, 'IDEMPOTENCY_KEY_REUSED')
  })
})

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { clockStandMs } from '../../../../src/actors/time/steady-clock.ts'
import type { EventLog } from '../../../../src/log/event-log.ts'
import { acceptedReadings, answerOf, expectAccepted, expectRefusal } from '../../../support/answers.ts'
import { openFreshLog } from '../../../support/logs/engine.ts'
import { type Service, startService, testAsker, validReading } from '../../../support/test-service.ts'

let log: EventLog
let service: Service
beforeEach(async () => {
  log = await openFreshLog()
  service = await startService({ log })
})
afterEach(async () => {
  await service.stop()
  await log.close()
})

const limit = { readings: 3, windowMs: 60_000 }
const post = async (key: string, body: unknown = validReading) => answerOf(await service.post(body, key))
const code = 'RATE_LIMITED'

describe('POST /api/v1/ingest answers 429 RATE_LIMITED', () => {
  test('one reading past the limit, with the time to wait', async () => {
    const { key } = await service.createKey({ limit })
    for (let sent = 0; sent < 3; sent += 1) {
      expectAccepted(await post(key))
      service.clock.advance(100)
    }
    const refused = await post(key)
    expect(expectRefusal(refused, 429, code)).toBe(
      'X-API-Key allows at most 3 readings in 60 seconds: send the request again after 60 seconds.',
    )
    expect(refused.header('Retry-After')).toBe('60')
    expect(refused.header('RateLimit-Policy')).toBe('"default";q=3;w=60')
    expect(refused.header('RateLimit')).toBe('"default";r=0;t=60')

    service.clock.advance(59_000)
    const late = await post(key)
    expect(late.header('Retry-After')).toBe('1')
    expect(expectRefusal(late, 429, code)).toEndWith('send the request again after 1 second.')
    service.clock.advance(1_000)
    expectAccepted(await post(key))
    expect((await acceptedReadings(log)).length).toBe(4)
  })

  test('for the right time despite a short clock jump', async () => {
    const { key } = await service.createKey({ limit })
    for (let sent = 0; sent < 3; sent += 1) await post(key)
    service.clock.leap(24 * 3_600_000)
    service.clock.advance(1_000)
    expect((await post(key)).header('Retry-After')).toBe('59')
    service.clock.leap(-24 * 3_600_000)
    expect((await post(key)).header('Retry-After')).toBe('59')
    service.clock.advance(59_000)
    expectAccepted(await post(key))
  })

  test('for the right time after a clock was an hour ahead and was set back', async () => {
    const { key } = await service.createKey({ limit })
    const hourMs = 3_600_000
    service.clock.leap(hourMs)
    await post(key)
    service.clock.advance(clockStandMs)
    for (let sent = 0; sent < 2; sent += 1) expectAccepted(await post(key))
    service.clock.leap(-hourMs)
    const two = await answerOf(await service.postBatch([validReading, validReading], key))
    expect([two.status, two.header('Retry-After')]).toEqual([429, '3660'])
    expectAccepted(await post(key))
    const checks = [() => post(key), () => post(key, 'x')]
    for (const send of checks) {
      const refused = await send()
      expectRefusal(refused, 429, code)
      expect(refused.header('Retry-After')).toBe('3660')
      expect(refused.header('RateLimit')).toBe('"default";r=0;t=3660')
    }
    const batch = await answerOf(await service.postBatch([validReading], key))
    expect([batch.status, batch.header('Retry-After')]).toEqual([429, '3660'])

    service.clock.advance(hourMs + 59_000)
    expect((await post(key)).header('Retry-After')).toBe('1')
    service.clock.advance(1_000)
    expectAccepted(await post(key))
  })

  test('and again after a restart', async () => {
    const { key } = await service.createKey({ limit })
    for (let sent = 0; sent < 3; sent += 1) await post(key)
    expectRefusal(await post(key), 429, code)
    await service.stop()
    service = await startService({ log, clock: service.clock, seed: 2 })
    const refused = await post(key)
    expectRefusal(refused, 429, code)
    expect(refused.header('Retry-After')).toBe('60')
    service.clock.advance(60_000)
    expectAccepted(await post(key))
  })

  test('to parallel requests past the limit', async () => {
    const { key } = await service.createKey({ limit })
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(key)))
    expect(answers.filter((answer) => answer.status === 200).length).toBe(3)
    for (const answer of answers) {
      if (answer.status !== 200) expectRefusal(answer, 429, code)
      expect(answer.header('RateLimit')).toStartWith('"default";r=')
    }
    expect((await acceptedReadings(log)).length).toBe(3)
  })

  test('also after the clock was set back', async () => {
    const { key } = await service.createKey({ limit })
    expectRefusal(await post(key, '{}'), 400, 'MISSING_FIELD')
    service.clock.advance(-5_000)
    expectRefusal(await post(key, '{}'), 400, 'MISSING_FIELD')
  })

  test('also to an invalid body', async () => {
    const { key } = await service.createKey({ limit })
    for (let sent = 0; sent < 3; sent += 1) await post(key)
    expectRefusal(await post(key, 'x'), 429, code)
    expectRefusal(await answerOf(await service.post('x', key, { 'Content-Type': 'text/plain' })), 429, code)
  })

  test('at once after a lower limit is confirmed', async () => {
    const { key, keyId } = await service.createKey({ limit })
    await post(key)
    await post(key)
    expect((await service.core.keys.setLimit(keyId, { readings: 2, windowMs: 60_000 }, testAsker)).ok).toBe(true)
    const refused = await post(key)
    expectRefusal(refused, 429, code)
    expect(refused.header('RateLimit-Policy')).toBe('"default";q=2;w=60')
  })

  test('no longer after a higher limit is confirmed', async () => {
    const { key, keyId } = await service.createKey({ limit: { readings: 1, windowMs: 60_000 } })
    await post(key)
    expectRefusal(await post(key), 429, code)
    await service.core.keys.setLimit(keyId, { readings: 2, windowMs: 60_000 }, testAsker)
    expectAccepted(await post(key))
    expectRefusal(await post(key), 429, code)
  })

  test('until the window fits the lower limit', async () => {
    const { key, keyId } = await service.createKey({ limit })
    for (let sent = 0; sent < 3; sent += 1) {
      expectAccepted(await post(key))
      service.clock.advance(10_000)
    }
    await service.core.keys.setLimit(keyId, { readings: 1, windowMs: 60_000 }, testAsker)
    const refused = await post(key)
    // The limit is 1 now, so a reading needs an empty window. The last reading came at 20 s and leaves the window at 80 s. It
    // is 30 s now.
    expect(refused.header('Retry-After')).toBe('50')
    service.clock.advance(50_000)
    expectAccepted(await post(key))
  })

  test('to one key only, by its own limit', async () => {
    const first = await service.createKey()
    const second = await service.createKey()
    const policy = {
      limit: { readings: 1, windowMs: 60_000 },
      readingAgeMsMax: null,
      readingAheadMsMax: null,
      retentionMs: null,
    }
    await service.core.cellars.changePolicy('wine-berlin', policy, testAsker)
    expectAccepted(await post(first.key))
    expectRefusal(await post(first.key), 429, code)
    expectAccepted(await post(second.key))
  })
})

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  acceptedReadings,
  answerOf,
  expectAccepted,
  expectRefusal,
  expectUnauthorized,
} from '../../../support/answers.ts'
import { openFreshLog } from '../../../support/logs/engine.ts'
import { type FaultyLog, faultyLog } from '../../../support/logs/faulty-log.ts'
import { type Service, startService, validReading } from '../../../support/test-service.ts'

let log: FaultyLog
let service: Service
let key: string
beforeEach(async () => {
  log = faultyLog(await openFreshLog())
  service = await startService({ log })
  key = (await service.createKey()).key
  expectAccepted(await post())
})
afterEach(async () => {
  log.comeBack()
  await service.stop()
  await log.close()
})

const post = async () => answerOf(await service.post(validReading, key))

describe('POST /api/v1/ingest answers 503', () => {
  test.each([
    ['STORE_UNAVAILABLE', 'unavailable', 'store is unavailable, and nothing is confirmed: '],
    ['STORAGE_FULL', 'full', 'store is full, and nothing was stored: '],
    ['OVERLOADED', 'overloaded', 'service is overloaded, and nothing was stored: '],
  ] as const)('%s when the log is %s, and frees the slot', async (code, reason, text) => {
    log.failAppend({ fault: 'not_written', reason })
    const refused = await post()
    expect(expectRefusal(refused, 503, code)).toStartWith(text)
    expect(refused.header('Retry-After')).toBe('1')
    expect(refused.header('RateLimit')).toBe('"default";r=5999;t=60')
    expectAccepted(await post())
    expect((await acceptedReadings(log)).length).toBe(2)
  })

  test('while the log is away, but 401 without a key', async () => {
    log.goAway()
    expectRefusal(await post(), 503, 'STORE_UNAVAILABLE')
    expectUnauthorized(await answerOf(await service.post(validReading, null)), 'API key is required')
    log.comeBack()
    expectAccepted(await post())
  })

  test('without cost for the key', async () => {
    const limited = await service.createKey({ limit: { readings: 1, windowMs: 60_000 } })
    log.goAway()
    for (let sent = 0; sent < 20; sent += 1) {
      expect((await service.post(validReading, limited.key)).status).toBe(503)
    }
    log.comeBack()
    expectAccepted(await answerOf(await service.post(validReading, limited.key)))
  })
})

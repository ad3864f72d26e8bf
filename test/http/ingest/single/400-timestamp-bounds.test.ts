import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readingsStream } from '../../../../src/domain/stream-names.ts'
import { answerOf, expectAccepted, expectRefusal } from '../../../support/answers.ts'
import { type Service, startService, testAsker, testCellar, validReading } from '../../../support/test-service.ts'

let service: Service
let key: string
beforeAll(async () => {
  service = await startService()
  key = (await service.createKey()).key
  const policy = { limit: null, readingAgeMsMax: 3_600_000, readingAheadMsMax: 1_000, retentionMs: null }
  const changed = await service.core.cellars.changePolicy(testCellar, policy, testAsker)
  expect(changed.ok).toBe(true)
})
afterAll(() => service.stop())

const post = async (offsetMs: number) => {
  const timestamp = new Date(service.clock.now() + offsetMs).toISOString()
  return answerOf(await service.post({ ...validReading, timestamp }, key))
}

describe('a cellar with timestamp bounds', () => {
  test('answers 200 at the bounds', async () => {
    expectAccepted(await post(-3_600_000))
    expectAccepted(await post(1_000))
  })

  test('answers 400 TIMESTAMP_TOO_OLD one millisecond past the age', async () => {
    expect(expectRefusal(await post(-3_600_001), 400, 'TIMESTAMP_TOO_OLD')).toStartWith(
      'timestamp must be at most 3600 seconds old in this cellar:',
    )
  })

  test('answers 400 TIMESTAMP_IN_FUTURE one millisecond past the bound', async () => {
    expect(expectRefusal(await post(1_001), 400, 'TIMESTAMP_IN_FUTURE')).toStartWith(
      'timestamp must be at most 1 second ahead in this cellar:',
    )
  })

  test('200 for a cellar without bounds', async () => {
    const other = await service.createKey({ cellar: 'other' })
    const reading = { ...validReading, cellar: 'other', timestamp: '0001-01-01T00:00:00Z' }
    expectAccepted(await answerOf(await service.post(reading, other.key)))
  })
})

test('a reading older than the retention gets 400 TIMESTAMP_TOO_OLD', async () => {
  const other = await service.createKey({ cellar: 'short memory' })
  const retentionMs = 24 * 3_600_000
  const policy = { limit: null, readingAgeMsMax: null, readingAheadMsMax: null, retentionMs }
  expect((await service.core.cellars.changePolicy('short memory', policy, testAsker)).ok).toBe(true)
  const postAged = async (ageMs: number) => {
    const timestamp = new Date(service.clock.now() - ageMs).toISOString()
    return answerOf(await service.post({ ...validReading, cellar: 'short memory', timestamp }, other.key))
  }
  expectAccepted(await postAged(retentionMs))
  expect(expectRefusal(await postAged(retentionMs + 1), 400, 'TIMESTAMP_TOO_OLD')).toContain('at most 1 day old')
  expect(await service.log.read(readingsStream(other.keyId), { limit: 10 })).toHaveLength(1)
})

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { acceptedReadings, answerOf, expectBatch, expectRefusal } from '../../../support/answers.ts'
import { type Service, startService, testAsker, validReading } from '../../../support/test-service.ts'

let service: Service
beforeEach(async () => {
  service = await startService()
})
afterEach(() => service.stop())

const limit = { readings: 3, windowMs: 60_000 }

describe('POST /api/v1/ingest/batch answers 207', () => {
  test('with index and fault of each refused reading', async () => {
    const { key } = await service.createKey()
    const readings = [
      validReading,
      { ...validReading, value: '21.5' },
      7,
      { ...validReading, value: 2 },
      { cellar: validReading.cellar, rack: 'r' },
      { ...validReading, rack: ' r' },
      { ...validReading, timestamp: '2025-02-30T12:00:00Z' },
      { ...validReading, cellar: 'other' },
      [validReading],
      null,
    ]
    const answer = await answerOf(await service.postBatch(readings, key))
    const body = expectBatch(answer, 207)
    expect(body).toMatchObject({ accepted: 2, rejected: 8, message: '2 readings stored, 8 refused.' })
    expect(body.errors.map(({ index, code }) => `${index} ${code}`)).toEqual([
      '1 INVALID_TYPE',
      '2 INVALID_BODY',
      '4 MISSING_FIELD',
      '5 INVALID_NAME',
      '6 INVALID_TIMESTAMP',
      '7 CELLAR_MISMATCH',
      '8 INVALID_BODY',
      '9 INVALID_BODY',
    ])
    expect(body.errors[0]?.error).toBe(
      'value must be a JSON number: send it without quotes, or skip the reading if it has no value.',
    )
    expect(body.errors[1]?.error).toBe(
      'reading must be a JSON object: send cellar, rack, keg, value and timestamp as its fields.',
    )
    expect((await acceptedReadings(service.log)).map(({ data }) => data.value)).toEqual([21.5, 2])
    expect(answer.header('X-Receipt')).toEndWith('@0-1')
  })

  test('after the timestamp bounds of the cellar for each reading', async () => {
    const { key } = await service.createKey()
    const policy = { limit: null, readingAgeMsMax: 3_600_000, retentionMs: null, readingAheadMsMax: 60_000 }
    await service.core.cellars.changePolicy(validReading.cellar, policy, testAsker)
    service.clock.set(Date.UTC(2026, 2, 1, 12))
    const readings = ['2026-03-01T10:59:59Z', '2026-03-01T11:00:00Z', '2026-03-01T12:01:00Z', '2026-03-01T12:01:01Z']
    const answer = await service.postBatch(
      readings.map((timestamp) => ({ ...validReading, timestamp })),
      key,
    )
    const body = expectBatch(await answerOf(answer), 207)
    expect(body.errors.map(({ index, code }) => `${index} ${code}`)).toEqual([
      '0 TIMESTAMP_TOO_OLD',
      '3 TIMESTAMP_IN_FUTURE',
    ])
  })

  test('and counts only valid readings in the window', async () => {
    const { key } = await service.createKey({ limit })
    const bad = { ...validReading, value: null }
    const answer = await answerOf(await service.postBatch([bad, validReading, bad, validReading, bad], key))
    expect(expectBatch(answer, 207).accepted).toBe(2)
    expect(answer.header('RateLimit')).toBe('"default";r=1;t=60')
    expect((await service.post(validReading, key)).status).toBe(200)
    expectRefusal(await answerOf(await service.post(validReading, key)), 429, 'RATE_LIMITED')
  })

  test('without a last refusal for the key', async () => {
    const { key } = await service.createKey({ limit })
    for (let sent = 0; sent < 31; sent += 1) {
      expectBatch(await answerOf(await service.postBatch([7, validReading], key)), 207)
      service.clock.advance(60_000)
    }
  })

  test('without repeating the body', async () => {
    const { key } = await service.createKey()
    const readings = [
      validReading,
      { ...validReading, value: 'SECRET' },
      'SECRET',
      { ...validReading, cellar: 'SECRET' },
    ]
    const answer = await answerOf(await service.postBatch(readings, key))
    expect(expectBatch(answer, 207).rejected).toBe(3)
    expect(answer.body).not.toContain('SECRET')
  })
})

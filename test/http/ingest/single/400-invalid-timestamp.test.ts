import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { answerOf, expectRefusal } from '../../../support/answers.ts'
import { type Service, startService, validReading } from '../../../support/test-service.ts'

let service: Service
let key: string
beforeAll(async () => {
  service = await startService()
  key = (await service.createKey()).key
})
afterAll(() => service.stop())

const refusal = async (timestamp: string) =>
  expectRefusal(await answerOf(await service.post({ ...validReading, timestamp }, key)), 400, 'INVALID_TIMESTAMP')

// These are examples only. The test of the rule in `test/domain/reading/timestamp.test.ts` has all forms.
describe('POST /api/v1/ingest answers 400 INVALID_TIMESTAMP', () => {
  test.each([
    '',
    'now',
    '2026-03-01',
    '2026-03-01T12:00:00',
    '2026-03-01T12:00:00+01:00',
    '2026-03-01T12:00:00.1234567890Z',
    '1772366400',
  ])('to the form %j', async (timestamp) => {
    expect(await refusal(timestamp)).toBe(
      'timestamp must have the form YYYY-MM-DDThh:mm:ssZ, in UTC, with at most 9 fractional digits: send it like 2025-03-01T12:00:00Z.',
    )
  })

  test.each(['2025-02-30T00:00:00Z', '2026-03-01T24:00:00Z', '2016-12-31T23:59:60Z'])(
    'to %s, which does not exist',
    async (timestamp) => {
      expect(await refusal(timestamp)).toBe(
        'timestamp must be a date and a time that exist, with months 01-12, hours 00-23, minutes and seconds 00-59: send it like 2025-03-01T12:00:00Z.',
      )
    },
  )
})

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { batchReadingsMax } from '../../../../src/limits.ts'
import { acceptedReadings, answerOf, expectBatch, expectRefusal } from '../../../support/answers.ts'
import { type Service, startService, validReading } from '../../../support/test-service.ts'

let service: Service
let key: string
beforeEach(async () => {
  service = await startService()
  key = (await service.createKey()).key
})
afterEach(() => service.stop())

const limit = { readings: 3, windowMs: 60_000 }
const copies = (count: number) => Array.from({ length: count }, () => validReading)
const post = async (readings: readonly unknown[] | string, withKey = key) =>
  answerOf(await service.postBatch(readings, withKey))

describe('POST /api/v1/ingest/batch answers 400', () => {
  test('BATCH_REJECTED without a valid reading, with each fault', async () => {
    const answer = await post([7, { ...validReading, cellar: 'other' }])
    const body = expectBatch(answer, 400)
    expect(body).toMatchObject({ accepted: 0, rejected: 2, message: 'Nothing stored, 2 refused.' })
    expect(body.errors.map(({ index, code }) => `${index} ${code}`)).toEqual(['0 INVALID_BODY', '1 CELLAR_MISMATCH'])
    expect(JSON.parse(answer.body).timestamp).toBe('2026-03-01T12:00:00Z')
    expect(await acceptedReadings(service.log)).toEqual([])
  })

  test('BATCH_EMPTY to a batch without readings', async () => {
    expect(expectRefusal(await post([]), 400, 'BATCH_EMPTY')).toBe(
      'readings must not be empty: send 1 to 1000 readings.',
    )
  })

  test('BATCH_TOO_LARGE one reading past the bound', async () => {
    const large = await service.createKey({ limit: { readings: 10_000, windowMs: 60_000 } })
    for (const readings of [copies(batchReadingsMax + 1), Array.from({ length: batchReadingsMax + 1 }, () => 7)]) {
      expect(expectRefusal(await post(readings, large.key), 400, 'BATCH_TOO_LARGE')).toBe(
        'readings must be at most 1000 in one batch: send them in several batches.',
      )
    }
    expect(await acceptedReadings(service.log)).toEqual([])
  })

  test("BATCH_TOO_LARGE to more valid readings than the key's limit", async () => {
    const small = await service.createKey({ limit })
    expect(expectRefusal(await post(copies(4), small.key), 400, 'BATCH_TOO_LARGE')).toBe(
      'readings must be at most 3 in one batch, the limit of this API key: send them in several batches.',
    )
    expectBatch(await post([...copies(3), 7], small.key), 207)
    service.clock.advance(60_000)
    expectBatch(await post(copies(2), small.key), 200)
    expectRefusal(await post(copies(4), small.key), 400, 'BATCH_TOO_LARGE')
    expect(await acceptedReadings(service.log)).toHaveLength(5)
  })

  test.each([
    '[]',
    '7',
    'null',
    '"readings"',
    '{}',
    '{"readings":null}',
    '{"readings":{}}',
    '{"readings":{"length":1,"0":1}}',
    '{"readings":"x"}',
    '{"Readings":[]}',
    JSON.stringify(validReading),
    JSON.stringify([validReading]),
    '{"__proto__":{"readings":[]}}',
  ])('INVALID_BODY to %s', async (body) => {
    expect(expectRefusal(await post(body), 400, 'INVALID_BODY')).toBe(
      'body must be one JSON object with a list: send {"readings":[…]}.',
    )
  })

  test.each(['', '{"readings":[', `{"readings":[${JSON.stringify(validReading)},]}`, '{"readings":[NaN]}'])(
    'MALFORMED_JSON to %j',
    async (body) => {
      expectRefusal(await post(body), 400, 'MALFORMED_JSON')
    },
  )
})

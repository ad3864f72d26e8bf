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

describe('POST /api/v1/ingest answers 400 INVALID_VALUE', () => {
  test.each(['1e400', '-1e400', '1.8e308', '9'.repeat(400)])('to %s, which no double can hold', async (number) => {
    const body = JSON.stringify(validReading).replace('21.5', number)
    const text = expectRefusal(await answerOf(await service.post(body, key)), 400, 'INVALID_VALUE')
    expect(text).toBe(
      'value must be finite, from -1.7976931348623157e308 to 1.7976931348623157e308: skip the reading if it has no value.',
    )
  })
})

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

describe('POST /api/v1/ingest answers 400 INVALID_BODY', () => {
  test.each(['null', 'true', '21.5', '"reading"', '[]', JSON.stringify([validReading])])(
    'to %s, which is JSON and no object',
    async (body) => {
      const text = expectRefusal(await answerOf(await service.post(body, key)), 400, 'INVALID_BODY')
      expect(text).toBe('body must be one JSON object: send cellar, rack, keg, value and timestamp as its fields.')
    },
  )
})

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

const refusal = async (change: object) =>
  expectRefusal(await answerOf(await service.post({ ...validReading, ...change }, key)), 400, 'INVALID_TYPE')

describe('POST /api/v1/ingest answers 400 INVALID_TYPE', () => {
  test.each(['cellar', 'rack', 'keg', 'timestamp'])('to a %s that is not a string', async (field) => {
    for (const value of [null, true, 17, [], ['x'], {}]) {
      expect(await refusal({ [field]: value })).toBe(`${field} must be a JSON string: send it in quotes.`)
    }
  })

  test.each([[null], [false], ['21.5'], [''], [[21.5]], [{}]])('to the value %j: nothing is coerced', async (value) => {
    expect(await refusal({ value })).toBe(
      'value must be a JSON number: send it without quotes, or skip the reading if it has no value.',
    )
  })

  test('for the first fault in the order of the contract', async () => {
    expect(await refusal({ timestamp: 1, value: 'x', keg: 2 })).toStartWith('keg ')
  })

  test('for a type before rules of later fields', async () => {
    expect(await refusal({ rack: 1, keg: '' })).toStartWith('rack ')
    const earlier = await answerOf(await service.post({ ...validReading, rack: '', keg: 1 }, key))
    expectRefusal(earlier, 400, 'INVALID_NAME')
  })
})

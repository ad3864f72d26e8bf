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

const refusal = async (body: unknown) =>
  expectRefusal(await answerOf(await service.post(body, key)), 400, 'MISSING_FIELD')
const every = 'every reading needs cellar, rack, keg, value and timestamp.'

describe('POST /api/v1/ingest answers 400 MISSING_FIELD', () => {
  test.each(['cellar', 'rack', 'keg', 'value', 'timestamp'])('and names the missing %s', async (field) => {
    const { [field]: _, ...rest } = Object.fromEntries(Object.entries(validReading))
    expect(await refusal(rest)).toBe(`${field} is missing: ${every}`)
  })

  test('and names all missing fields in order', async () => {
    expect(await refusal({ value: 1, rack: 'r' })).toBe(`cellar, keg and timestamp are missing: ${every}`)
    expect(await refusal({})).toBe(`cellar, rack, keg, value and timestamp are missing: ${every}`)
  })

  test('before it judges the other fields', async () => {
    expect(await refusal({ cellar: 7, rack: '', value: 'x' })).toBe(`keg and timestamp are missing: ${every}`)
  })

  test('to a field name in another case', async () => {
    const { cellar, ...rest } = validReading
    expect(await refusal({ Cellar: cellar, ...rest })).toBe(`cellar is missing: ${every}`)
  })

  test('to fields that only a prototype would have', async () => {
    expect(await refusal(`{"__proto__":${JSON.stringify(validReading)}}`)).toStartWith('cellar, rack, keg, value and')
  })
})

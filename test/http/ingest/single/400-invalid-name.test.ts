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
  expectRefusal(await answerOf(await service.post(body, key)), 400, 'INVALID_NAME')

describe.each(['cellar', 'rack', 'keg'])('POST /api/v1/ingest answers 400 INVALID_NAME to a %s', (field) => {
  test.each(['', ' ', '   ', '\u00a0', '\u3000'])('that is blank: %j', async (name) => {
    expect(await refusal({ ...validReading, [field]: name })).toBe(
      `${field} must not be blank: send 1 to 128 characters.`,
    )
  })

  test.each([' x', 'x ', '\u00a0x', 'x\u2003'])('with a space at an end: %j', async (name) => {
    expect(await refusal({ ...validReading, [field]: name })).toBe(
      `${field} must not begin or end with a space: remove the space.`,
    )
  })

  test.each(['x'.repeat(129), '🍷'.repeat(129)])('of 129 characters', async (name) => {
    expect(await refusal({ ...validReading, [field]: name })).toBe(
      `${field} must be at most 128 characters: choose a shorter name.`,
    )
  })

  test.each(['a\u0000b', 'a\nb', 'a\u001bb', 'a\u007fb', 'a\u0085b'])('with a control character: %j', async (name) => {
    expect(await refusal({ ...validReading, [field]: name })).toBe(
      `${field} must not contain a control character: remove it.`,
    )
  })

  test.each(['\\ud800', 'a\\udc00b', '\\udfff\\ud800'])('with a lone surrogate: %s', async (escaped) => {
    const body = JSON.stringify({ ...validReading, [field]: 'NAME' }).replace('NAME', escaped)
    expect(await refusal(body)).toBe(
      `${field} must be whole Unicode characters, without half of a surrogate pair: remove that half.`,
    )
  })

  test('and does not repeat it', async () => {
    expect(await refusal({ ...validReading, [field]: ' SECRET-WORD' })).not.toContain('SECRET')
  })
})

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { orderKey } from '../../../src/domain/search/order-key.ts'

const ordered = (texts: readonly string[]): readonly string[] =>
  texts.toSorted((a, b) => (orderKey(a) < orderKey(b) ? -1 : 1))

test('Order keys put shorter numbers first, and any other text by its units', () => {
  const texts = [
    '',
    '1',
    'A-1',
    'rack',
    'rack-',
    'rack-1',
    'rack-2',
    'rack-2/a',
    'rack-10',
    'rack-10-9',
    'rack-10-11',
    'rack-a',
  ]
  expect(ordered(texts.toReversed())).toEqual(texts)
})

test('Order keys put a longer run of digits behind a shorter one', () => {
  const texts = Array.from({ length: 128 }, (_, more) => '9'.repeat(more + 1))
  expect(ordered(texts.toReversed())).toEqual(texts)
  const tens = texts.map((nines) => `1${'0'.repeat(nines.length)}`)
  for (const [at, nines] of texts.entries()) expect(orderKey(nines) < orderKey(tens[at] ?? ''), nines).toBe(true)
})

test('Order keys order numbers as numbers', () => {
  const whole = fc.bigInt({ min: 0n, max: 10n ** 30n })
  fc.assert(
    fc.property(whole, whole, (a, b) => {
      expect(orderKey(`a${a}-`) < orderKey(`a${b}-`)).toBe(a < b)
    }),
  )
})

test('Order keys differ for different texts, and have at most twice their length', () => {
  const text = fc.string({ unit: fc.constantFrom('0', '1', '9', 'a', '/', ':') })
  fc.assert(
    fc.property(text, text, (a, b) => {
      expect(orderKey(a) === orderKey(b)).toBe(a === b)
      expect(orderKey(a).length).toBeLessThanOrEqual(2 * a.length)
    }),
  )
})

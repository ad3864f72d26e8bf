import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { keyFilterOf, keySorts, keyWords, limitShare } from '../../../src/domain/search/key-filter.ts'
import { keyQueryOf } from '../../../src/http/dashboard/show/key-list.ts'
import { keyFields } from '../../../views/paths.ts'

const query = fc.record({
  cellar: fc.constant(null),
  words: fc.uniqueArray(fc.stringMatching(/^[a-z0-9&=+%]{1,9}$/), { maxLength: 8 }),
  status: fc.constantFrom('active', 'expired', 'suspended', 'revoked', 'all'),
  expires: fc.constantFrom(null, '7', '30', 'never'),
  unused: fc.constantFrom(null, '30', '90', 'never'),
  nearLimit: fc.boolean(),
  refusedToday: fc.boolean(),
  rotation: fc.boolean(),
  sort: fc.constantFrom(...keySorts),
  isReversed: fc.boolean(),
  page: fc.integer({ min: 1, max: 999_999 }),
  isPaused: fc.boolean(),
})

test('keyQueryOf() reads what an address of a list says', () => {
  fc.assert(
    fc.property(query, (wanted) => {
      const address = new URLSearchParams(keyFields(wanted).map(([name, text]): [string, string] => [name, text]))
      expect(keyQueryOf(address, null)).toEqual(wanted)
    }),
  )
})

test('keyFilterOf() takes unknown values for no filter', () => {
  const odd = new URLSearchParams('status=gone&expires=8&unused=x&near=1&refused=yes&rotation=1&cellar=')
  expect(keyFilterOf(odd, null)).toEqual(keyFilterOf(new URLSearchParams(), null))
  expect(keyFilterOf(new URLSearchParams('cellar=a'), null).cellar).toBeNull()
  expect(keyFilterOf(new URLSearchParams('cellar=a'), 'b').cellar).toBe('b')
})

test('keyWords() drops the secret of a key, repeated words and a ninth word', () => {
  expect(keyWords(`clr_7Qp2mZ4k_${'s'.repeat(49)} PRESS press`)).toEqual(['clr_7qp2mz4k', 'press'])
  expect(keyWords('a b c d e f g h i')).toEqual([...'abcdefgh'])
})

test('limitShare() never claims more than was used in a window', () => {
  expect(limitShare(300, { readings: 600, windowMs: 60_000 })).toBe(0.5)
  expect(limitShare(300, { readings: 600, windowMs: 3_600_000 })).toBe(0.5)
  expect(limitShare(300, { readings: 600, windowMs: 10_000 })).toBeCloseTo(1 / 12)
})

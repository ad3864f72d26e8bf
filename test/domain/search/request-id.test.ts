import { describe, expect, test } from 'bun:test'
import { instantOfRequestId } from '../../../src/domain/search/request-id.ts'
import { derivedId, isDerivedId, isUuid, readingId } from '../../../src/domain/uuid.ts'
import { systemEntropy } from '../../../src/entropy.ts'
import { batchReadingsMax } from '../../../src/limits.ts'
import { seededEntropy } from '../../support/seeded-entropy.ts'

const atMs = Date.parse('2026-03-01T10:14:07.123Z')

describe('instantOfRequestId()', () => {
  test.each([
    ['of a request', '019ca8df-0403-7000-8000-000000000000', 0x019ca8df0403],
    ['in upper case', '019CA8DF-0403-7FFF-BFFF-FFFFFFFFFFFF', 0x019ca8df0403],
    ['from the first instant', '00000000-0000-7000-8000-000000000000', 0],
    ['from the last instant', 'ffffffff-ffff-7fff-bfff-ffffffffffff', 2 ** 48 - 1],
  ])('says the instant of an id %s', (_, id, instant) => {
    expect(instantOfRequestId(id)).toBe(instant)
  })

  test.each([
    ['nothing', ''],
    ['a random UUID', '00112233-4455-4677-8899-aabbccddeeff'],
    ['a receipt', 'readings-7Qp2xK9a@976'],
    ['an id that was derived from another', derivedId('cause', 'effect')],
    ['a UUID with another variant', '019ca8df-0403-7000-c000-000000000000'],
    ['a UUID with more after it', '019ca8df-0403-7000-8000-000000000000 '],
  ])('refuses %s', (_, text) => {
    expect(instantOfRequestId(text)).toBeNull()
  })
})

describe.each([
  ['the system', systemEntropy],
  ['a seed', seededEntropy()],
])('a request id from the entropy of %s', (_, entropy) => {
  test('is a UUID that says its instant, and is not taken for a derived id', () => {
    const id = entropy.requestId(atMs)
    expect([isUuid(id), isDerivedId(id)]).toEqual([true, false])
    expect(instantOfRequestId(id)).toBe(atMs)
  })

  test('is another one each time within one millisecond', () => {
    const ids = Array.from({ length: 20_000 }, () => entropy.requestId(atMs))
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('gives its instant to all readings of the largest batch', () => {
    const later = atMs + 60_000
    const id = entropy.requestId(later)
    for (let index = 0; index < batchReadingsMax; index += 1) {
      expect(instantOfRequestId(readingId(id, index))).toBe(later)
    }
  })

  test('says the instant after the clock was set back', () => {
    const instants = [7_200_000, 3_600_000, 3_599_999, 7_200_000].map((aheadMs) => atMs + aheadMs)
    const facts = instants.map((instant) => instantOfRequestId(entropy.requestId(instant)))
    expect(facts).toEqual(instants)
  })
})

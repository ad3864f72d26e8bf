import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  dateText,
  durationText,
  durationWords,
  exactText,
  isoText,
  relativeText,
  secondText,
} from '../../views/parts/time-words.ts'

const yearTenThousandMs = 253_402_300_800_000

describe('instants', () => {
  test('isoText() agrees with the platform for every millisecond from year 0 to 9999', () => {
    fc.assert(
      fc.property(fc.integer({ min: -62_167_219_200_000, max: yearTenThousandMs - 1 }), (ms) => {
        expect(isoText(ms)).toBe(new Date(ms).toISOString())
      }),
      { numRuns: 2_000 },
    )
  })

  test('exactText() separates the last millisecond of a leap day from the next', () => {
    const marchFirst = Date.UTC(2024, 2, 1)
    expect(exactText(marchFirst - 1)).toBe('2024-02-29 23:59:59.999 UTC')
    expect(secondText(marchFirst)).toBe('2024-03-01 00:00:00 UTC')
    expect(dateText(Date.UTC(2100, 1, 28) + 86_400_000)).toBe('2100-03-01')
  })
})

describe('relativeText()', () => {
  const cases: readonly (readonly [seconds: number, text: string])[] = [
    [0, 'just now'],
    [-1, '1 second ago'],
    [-89, '89 seconds ago'],
    [-90, '1 minute ago'],
    [-90 * 60 + 1, '89 minutes ago'],
    [-90 * 60, '1 hour ago'],
    [-36 * 3_600 + 1, '35 hours ago'],
    [-36 * 3_600, '1 day ago'],
    [30 * 86_400, 'in 30 days'],
  ]
  test.each(cases)('%i s from now is "%s"', (seconds, text) => {
    expect(relativeText(seconds * 1_000, 0)).toBe(text)
  })
})

describe('durationText()', () => {
  const cases: readonly (readonly [ms: number, text: string])[] = [
    [1_500, '1.5 s'],
    [60_000, '60 s'],
    [300_000, '5 min'],
    [86_400_000, '24 h'],
    [7 * 86_400_000, '7 d'],
  ]
  test.each(cases)('%i ms is "%s"', (ms, text) => {
    expect(durationText(ms)).toBe(text)
  })
})

test.each([
  [3_600_000, '1 hour'],
  [86_400_000, '24 hours'],
  [7 * 86_400_000, '7 days'],
])('durationWords() says of %i ms "%s"', (ms, text) => expect(durationWords(ms)).toBe(text))

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { instantText, secondText } from '../../src/domain/calendar.ts'
import { parseTimestamp } from '../../src/domain/reading/parse-timestamp.ts'

const years0To9999 = fc.integer({ min: Date.UTC(2000, 0, 1) - 63_113_904_000_000, max: 253_402_300_799_999 })

describe('instantText()', () => {
  test('equals toISOString() for every instant of the years 0000 to 9999', () => {
    fc.assert(
      fc.property(years0To9999, (ms) => {
        expect(instantText(ms)).toBe(new Date(ms).toISOString())
      }),
      { numRuns: 5_000 },
    )
    for (const ms of [0, -1, 951_782_400_000, 951_868_800_000, 253_402_300_799_999, -62_167_219_200_000]) {
      expect(instantText(ms)).toBe(new Date(ms).toISOString())
    }
  })

  test('is read by parseTimestamp() as the same instant', () => {
    fc.assert(fc.property(years0To9999, (ms) => parseTimestamp(instantText(ms)) === ms))
  })
})

describe('secondText()', () => {
  test('equals instantText() without ms, for seconds far apart and close together', () => {
    // Seconds 1,024 apart have the same place among the kept texts.
    const seconds = fc.integer({ min: -3, max: 3 }).map((turns) => turns * 1_024_000)
    fc.assert(
      fc.property(years0To9999, fc.array(seconds, { maxLength: 20 }), (ms, steps) => {
        for (const step of [0, ...steps, 0]) {
          const at = Math.min(Math.max(ms + step, -62_167_219_200_000), 253_402_300_799_999)
          expect(secondText(at)).toBe(`${instantText(at).slice(0, 19)}Z`)
        }
      }),
      { numRuns: 2_000 },
    )
  })
})

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { encodedBytesExceed } from '../../../src/domain/reading/columns.ts'
import type { Reading } from '../../../src/domain/reading/fields.ts'
import { encodedBytesAtMost, encodedReadingBytesBesideData } from '../../../src/domain/reading/reading-size.ts'
import { columnsOf } from '../../support/logs/columns-of.ts'

const name = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 128 }), fc.constantFrom('"'.repeat(9), '\\', '🍷', 'ß'))
const anyReading: fc.Arbitrary<Reading> = fc.record({
  cellar: name,
  rack: name,
  keg: name,
  value: fc.double({ noNaN: true, noDefaultInfinity: true }),
  timestamp: fc.constantFrom('2026-03-01T12:00:00Z', '2026-03-01T12:00:00.123456789+00:00'),
})

const bytesOf = (readings: readonly Reading[]): number =>
  readings.reduce((sum, one) => sum + Buffer.byteLength(JSON.stringify(one)) + encodedReadingBytesBesideData, 0)

describe('the encoded size of readings', () => {
  test('exceeds a bound from one byte past it on', () => {
    fc.assert(
      fc.property(name, fc.array(anyReading, { minLength: 1, maxLength: 8 }), (cellar, different) => {
        const readings = different.map((one) => ({ ...one, cellar }))
        const bytes = bytesOf(readings)
        expect(encodedBytesExceed(columnsOf(readings), bytes)).toBe(false)
        expect(encodedBytesExceed(columnsOf(readings), bytes - 1)).toBe(true)
      }),
      { seed: 20_260_301 },
    )
  })

  test('is never more than its estimate', () => {
    fc.assert(
      fc.property(anyReading, (reading) => {
        expect(encodedBytesAtMost(reading)).toBeGreaterThanOrEqual(bytesOf([reading]))
      }),
      { seed: 20_260_301 },
    )
    const longest = { cellar: '', rack: '', keg: '', value: -2.2250738585072014e-308, timestamp: '' }
    expect(encodedBytesAtMost(longest)).toBe(bytesOf([longest]))
  })
})

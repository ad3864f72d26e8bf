import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { nanosecondsPastMs, parseTimestamp } from '../../../src/domain/reading/parse-timestamp.ts'

describe('parseTimestamp()', () => {
  test.each([
    ['1970-01-01T00:00:00Z', 0],
    ['2025-03-01T12:00:00Z', 1_740_830_400_000],
    ['2024-02-29T23:59:59Z', 1_709_251_199_000],
    ['2000-02-29T00:00:00Z', 951_782_400_000],
    ['0000-01-01T00:00:00Z', -62_167_219_200_000],
    ['0000-02-29T00:00:00Z', -62_162_121_600_000],
    ['9999-12-31T23:59:59Z', 253_402_300_799_000],
    ['2025-03-01T12:00:00+00:00', 1_740_830_400_000],
    ['2025-03-01T12:00:00.1Z', 1_740_830_400_100],
    ['2025-03-01T12:00:00.12Z', 1_740_830_400_120],
    ['2025-03-01T12:00:00.123Z', 1_740_830_400_123],
    ['2025-03-01T12:00:00.123456+00:00', 1_740_830_400_123],
    ['2025-03-01T12:00:00.999999999Z', 1_740_830_400_999],
    ['1969-12-31T23:59:59.999999999Z', -1],
  ])('reads %s', (text, ms) => {
    expect(parseTimestamp(text)).toBe(ms)
  })

  test.each([
    '',
    'Z',
    '2025-03-01',
    '2025-03-01T12:00Z',
    '2025-03-01T12:00:00',
    '2025-03-01 12:00:00Z',
    '2025-03-01t12:00:00Z',
    '2025-03-01T12:00:00z',
    '2025-03-01T12:00:00.Z',
    '2025-03-01T12:00:00.1234567890Z',
    '2025-03-01T12:00:00,5Z',
    '2025-03-01T12:00:00.5',
    '2025-03-01T12:00:00+01:00',
    '2025-03-01T12:00:00-00:00',
    '2025-03-01T12:00:00+0000',
    '2025-03-01T12:00:00ZZ',
    '2025-03-01T12:00:00Z ',
    ' 2025-03-01T12:00:00Z',
    '2025-03-01T12:00:00Z\n',
    '2025-3-01T12:00:00Z',
    '25-03-01T12:00:00Z',
    '+02025-03-01T12:00:00Z',
    '-2025-03-01T12:00:00Z',
    '20250301T120000Z',
    '２０２５-03-01T12:00:00Z',
    '2025-03-01T12:00:0xZ',
    '2025-03-01T12-00-00Z',
    '1740830400',
  ])('refuses the form of %j', (text) => {
    expect(parseTimestamp(text)).toBe('form')
  })

  test.each([
    '2025-02-29T00:00:00Z',
    '2025-02-30T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2100-02-29T00:00:00Z',
    '2025-04-31T00:00:00Z',
    '2025-00-10T00:00:00Z',
    '2025-13-10T00:00:00Z',
    '2025-01-00T00:00:00Z',
    '2025-01-32T00:00:00Z',
    '2025-01-01T24:00:00Z',
    '2025-01-01T23:60:00Z',
    '2016-12-31T23:59:60Z',
  ])('refuses %s, which does not exist', (text) => {
    expect(parseTimestamp(text)).toBe('no_such_instant')
  })

  const first = -62_167_219_200_000
  const last = 253_402_300_799_999

  test('reads what toISOString() prints, in the years 0000 to 9999', () => {
    fc.assert(
      fc.property(fc.integer({ min: first, max: last }), (ms) => {
        expect(parseTimestamp(new Date(ms).toISOString())).toBe(ms)
      }),
      { numRuns: 5_000 },
    )
  })

  test('knows the same days as Date', () => {
    const part = (max: number) => fc.integer({ min: 0, max }).map((n) => String(n).padStart(2, '0'))
    const year = fc.integer({ min: 0, max: 9_999 }).map((n) => String(n).padStart(4, '0'))
    fc.assert(
      fc.property(year, part(14), part(33), (yyyy, mm, dd) => {
        // `Date` turns 30 February into a day of March. So a day exists if `Date` prints it unchanged.
        const platform = new Date(0)
        platform.setUTCFullYear(Number(yyyy), Number(mm) - 1, Number(dd))
        const exists = platform.toISOString().startsWith(`${yyyy}-${mm}-${dd}`)
        expect(parseTimestamp(`${yyyy}-${mm}-${dd}T00:00:00Z`)).toBe(exists ? platform.getTime() : 'no_such_instant')
      }),
      { numRuns: 5_000 },
    )
  })

  test('answers whole milliseconds or a fault for any text', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'0123456789-:.TZ+'), maxLength: 30 })),
        (text) => {
          const result = parseTimestamp(text)
          expect(Number.isInteger(result) || result === 'form' || result === 'no_such_instant').toBe(true)
        },
      ),
      { numRuns: 2_000 },
    )
  })
})

describe('nanosecondsPastMs()', () => {
  const table: [timestamp: string, nanoseconds: number][] = [
    ['2026-03-01T12:00:00Z', 0],
    ['2026-03-01T12:00:00+00:00', 0],
    ['2026-03-01T12:00:00.123Z', 0],
    ['2026-03-01T12:00:00.123+00:00', 0],
    ['2026-03-01T12:00:00.1234Z', 400_000],
    ['2026-03-01T12:00:00.1234+00:00', 400_000],
    ['2026-03-01T12:00:00.123456789Z', 456_789],
    ['2026-03-01T12:00:00.123000001+00:00', 1],
    ['2026-03-01T12:00:00.12+00:00', 0],
    ['2026-03-01T12:00:00.1+00:00', 0],
  ]
  for (const [timestamp, nanoseconds] of table) {
    test(`finds ${nanoseconds} ns in ${timestamp}`, () => expect(nanosecondsPastMs(timestamp)).toBe(nanoseconds))
  }
})

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseInstant } from '../../../src/domain/search/instant.ts'

const atMs = Date.UTC(2026, 2, 1, 10, 14, 7)

const ruleOf = (text: string): string => {
  const parsed = parseInstant(text)
  return parsed.ok ? `taken as ${parsed.value}` : parsed.refusal.rule
}

describe('parseInstant()', () => {
  test.each([
    ['2026-03-01T10:14:07Z', atMs],
    ['2026-03-01t10:14:07z', atMs],
    [' 2026-03-01 10:14:07 UTC ', atMs],
    ['2026-03-01T10:14:07.042Z', atMs + 42],
    ['2026-03-01T10:14:07,0429Z', atMs + 42],
    ['2026-03-01T11:14:07+01:00', atMs],
    ['2026-03-01T11:14:07+0100', atMs],
    ['2026-03-01 11:14:07 +01', atMs],
    ['2026-03-01T00:44:07-09:30', atMs],
    ['2026-03-02T00:14:07+14:00', atMs],
    ['2026-03-01T10:14Z', atMs - 7_000],
    ['2026-03-01', Date.UTC(2026, 2, 1)],
    ['1969-12-31T23:59:59.999Z', -1],
    ['1772360047', atMs],
    ['1772360047.5', atMs + 500],
    ['1772360047042', atMs + 42],
    ['1000000000000', 1_000_000_000_000],
    ['9999999999999', 9_999_999_999_999],
    ['@1772360047', atMs],
    ['@0', 0],
    ['@-1.5', -1_500],
    ['100000000', 100_000_000_000],
    ['9999999999', 9_999_999_999_000],
  ])('reads %p', (text, instant) => {
    expect(parseInstant(text)).toEqual({ ok: true, value: instant })
  })

  test.each([
    [
      '2026-03-01T10:14:07',
      'The time zone is missing: write 2026-03-01T10:14:07Z for UTC, or add an offset like +01:00.',
    ],
    ['2026-02-29', 'There is no day 2026-02-29.'],
    ['2026-13-01T00:00Z', 'There is no day 2026-13-01.'],
    ['2026-03-01T24:00Z', 'There is no such time'],
    ['2026-03-01T10:60Z', 'There is no such time'],
    ['2026-03-01T10:14:60Z', 'There is no such time'],
    ['2026-03-01T10:14:07+14:01', 'There is no such time'],
    ['0000-01-01T00:00:00+00:01', 'years go from 0000 to 9999'],
    ['9999-12-31T23:59:59-00:01', 'years go from 0000 to 9999'],
    ['2026-03-01T10:14:07+01:60', 'There is no such time'],
    ['@1772360047000', 'If it counts milliseconds, leave out the last three digits.'],
    ['10000000000', 'too large for seconds'],
    ['999999999999', 'too large for seconds'],
    ['10000000000000', 'too large for seconds'],
    ['99999999', 'it may be a position. If it counts seconds, write @99999999.'],
    ['yesterday', 'It must be an instant like 2026-03-01T10:14:07Z'],
    ['10:14', 'It must be an instant like'],
    ['01.03.2026', 'It must be an instant like'],
    ['2026-03-01T10Z', 'It must be an instant like'],
    ['', 'It must be an instant like'],
  ])('says what is wrong with %p', (text, why) => {
    expect(ruleOf(text)).toContain(why)
  })

  test('reads what Date writes, in every year of four digits', () => {
    const instants = fc.date({
      min: new Date('0000-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59.999Z'),
      noInvalidDate: true,
    })
    fc.assert(
      fc.property(instants, (date) => {
        expect(parseInstant(date.toISOString())).toEqual({ ok: true, value: date.getTime() })
      }),
    )
  })
})

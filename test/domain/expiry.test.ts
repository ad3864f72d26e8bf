import { describe, expect, test } from 'bun:test'
import { instantText } from '../../src/domain/calendar.ts'
import { isExpired, parseExpiry } from '../../src/domain/expiry.ts'

describe('isExpired()', () => {
  test('is true from the millisecond of the expiry on, and never without one', () => {
    expect(isExpired({ expiresAt: 1_000 }, 999)).toBe(false)
    expect(isExpired({ expiresAt: 1_000 }, 1_000)).toBe(true)
    expect(isExpired({ expiresAt: null }, Number.MAX_SAFE_INTEGER)).toBe(false)
  })
})

describe('parseExpiry()', () => {
  const table: [text: string, expiresAt: string | null][] = [
    ['2026-03-31', '2026-04-01T00:00:00.000Z'],
    ['2026-12-31', '2027-01-01T00:00:00.000Z'],
    ['2028-02-28', '2028-02-29T00:00:00.000Z'],
    ['2028-02-29', '2028-03-01T00:00:00.000Z'],
    ['2026-03-31T18:00:00Z', '2026-03-31T18:00:00.000Z'],
    ['2026-03-31T18:00:00.5+00:00', '2026-03-31T18:00:00.500Z'],
    [' 2026-03-31 ', '2026-04-01T00:00:00.000Z'],
    ['1970-01-01', '1970-01-02T00:00:00.000Z'],
    ['1969-12-30', null],
    ['9999-12-30', '9999-12-31T00:00:00.000Z'],
    ['9999-12-31', null],
    ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59.000Z'],
    ['2026-02-29', null],
    ['2026-02-30', null],
    ['2026-13-01', null],
    ['2026-3-31', null],
    ['31.03.2026', null],
    ['2026-03-31T18:00', null],
    ['2026-03-31T18:00:00+02:00', null],
    ['tomorrow', null],
    ['', null],
  ]
  for (const [text, expiresAt] of table) {
    test(expiresAt === null ? `refuses ${JSON.stringify(text)}` : `reads ${text} as until ${expiresAt}`, () => {
      const parsed = parseExpiry(text)
      expect(parsed.ok ? instantText(parsed.value) : null).toBe(expiresAt)
      if (!parsed.ok) expect(parsed.refusal.field).toBe('expiresAt')
    })
  }

  test('names the last possible date in its refusal of 9999-12-31', () => {
    expect(parseExpiry('9999-12-31')).toMatchObject({
      refusal: { rule: expect.stringContaining('9999-12-30') },
    })
  })
})

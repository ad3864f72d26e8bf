import { describe, expect, test } from 'bun:test'
import { dayNear, parseInstantNear } from '../../../src/domain/search/near-instant.ts'

const nowMs = Date.UTC(2026, 2, 1, 10, 14, 7, 42)
const midnightMs = Date.UTC(2026, 2, 1)
const dayMs = 86_400_000
const at = (hour: number, minute: number, second = 0): number =>
  midnightMs + hour * 3_600_000 + minute * 60_000 + second * 1_000

describe('parseInstantNear()', () => {
  test.each([
    ['now', nowMs],
    ['10:14', at(10, 14)],
    ['10:14:07', at(10, 14, 7)],
    ['10:14:07.042', nowMs],
    ['10:14:08', at(10, 14, 8) - dayMs],
    ['9:05 UTC', at(9, 5)],
    ['18:00', at(18, 0) - dayMs],
    ['today', midnightMs],
    ['today 18:00', at(18, 0)],
    ['Yesterday', midnightMs - dayMs],
    ['yesterday 18:00', at(18, 0) - dayMs],
    ['yesterday, 18:00', at(18, 0) - dayMs],
    ['3 minutes ago', nowMs - 180_000],
    ['3min ago', nowMs - 180_000],
    ['a minute ago', nowMs - 60_000],
    ['an hour ago', nowMs - 3_600_000],
    ['2 days ago', nowMs - 2 * dayMs],
    ['30 s ago', nowMs - 30_000],
    ['2026-03-01 10:14:07', at(10, 14, 7)],
    ['2026-03-01T11:14:07+01:00', at(10, 14, 7)],
    ['2026-03-01', midnightMs],
    [String(at(10, 14, 7) / 1_000), at(10, 14, 7)],
  ])('reads %p', (text, instant) => {
    expect(parseInstantNear(text, nowMs)).toEqual({ ok: true, value: instant })
  })

  test.each([
    ['24:00', 'It must be a time (UTC) like 10:14'],
    ['10:60', 'It must be a time (UTC) like 10:14'],
    ['tomorrow', 'It must be a time (UTC) like 10:14'],
    ['3 fortnights ago', 'It must be a time (UTC) like 10:14'],
    ['99999 weeks ago', 'It must be a time (UTC) like 10:14'],
    ['', 'It must be a time (UTC) like 10:14'],
    ['2026-02-30', 'There is no day 2026-02-30.'],
    ['12345678', 'it may be a position'],
  ])('says what is wrong with %p', (text, why) => {
    const parsed = parseInstantNear(text, nowMs)
    expect(parsed.ok ? parsed.value : parsed.refusal.rule).toContain(why)
  })
})

describe('dayNear()', () => {
  test('reads only days whose end can be written', () => {
    expect(dayNear('9999-12-30', nowMs)?.until).toBe(Date.UTC(9999, 11, 31))
    expect(dayNear('9999-12-31', nowMs)).toBeNull()
  })
})

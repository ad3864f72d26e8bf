import { describe, expect, test } from 'bun:test'
import { parseInstantNear, spanNear } from '../../../src/domain/search/near-instant.ts'

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

describe('spanNear()', () => {
  const monday = Date.UTC(2026, 1, 23)
  test.each([
    ['Yesterday', midnightMs - dayMs, midnightMs],
    ['2026-02-28', midnightMs - dayMs, midnightMs],
    ['09:30..09:40', at(9, 30), at(9, 40)],
    // Now is 10:14, so 10:40 alone would be yesterday.
    ['10:10 .. 10:40', at(10, 10), at(10, 40)],
    ['23:50..00:10', at(23, 50) - dayMs, at(0, 10)],
    ['9:30..9:30', at(9, 30), at(9, 30) + dayMs],
    ['yesterday 18:00 to 19:00', at(18, 0) - dayMs, at(19, 0) - dayMs],
    ['2026-02-27–2026-02-28', midnightMs - 2 * dayMs, midnightMs - dayMs],
    ['this week', monday, monday + 7 * dayMs],
    ['Last week', monday - 7 * dayMs, monday],
    ['last hour', nowMs - 3_600_000, nowMs],
    ['last 7 days', nowMs - 7 * dayMs, nowMs],
  ])('reads %p', (text, since, until) => {
    expect(spanNear(text, nowMs)).toEqual({ since, until })
  })

  test.each([
    '10:14',
    'now..',
    '..10:14',
    '10:14..no time',
    '2026-03-01..2026-02-28',
    'last',
    'last fortnight',
    '9999-12-31',
  ])('finds no span of time in %p', (text) => {
    expect(spanNear(text, nowMs)).toBeNull()
  })

  test('reads only days whose end can be written', () => {
    expect(spanNear('9999-12-30', nowMs)?.until).toBe(Date.UTC(9999, 11, 31))
  })
})

import { describe, expect, test } from 'bun:test'
import {
  limitWithin,
  overlapTyped,
  overlapWithin,
  parseDurationMs,
  parseLimit,
  parseOverlap,
  retentionWithin,
} from '../../src/domain/amounts.ts'
import type { Limit } from '../../src/domain/events.ts'
import { rotationOverlapMsDefault, rotationOverlapsMs } from '../../src/limits.ts'

describe('parseOverlap()', () => {
  test('reads the four overlaps as they are typed, and nothing else', () => {
    expect(rotationOverlapsMs.map(overlapTyped)).toEqual(['0', '1h', '24h', '7d'])
    for (const ms of rotationOverlapsMs) expect(parseOverlap(` ${overlapTyped(ms)} `)).toEqual({ ok: true, value: ms })
    for (const text of ['', '1d', '168h', '0s', '-0', '2h', '1 h', '٧d'])
      expect([text, parseOverlap(text).ok]).toEqual([text, false])
    expect(overlapTyped(rotationOverlapMsDefault)).toBe('24h')
  })

  test('overlapWithin() refuses a value one millisecond off', () => {
    for (const ms of rotationOverlapsMs) {
      expect([overlapWithin(ms - 1).ok, overlapWithin(ms).ok, overlapWithin(ms + 1).ok]).toEqual([false, true, false])
    }
  })
})

describe('parseDurationMs()', () => {
  const table: [text: string, ms: number | null][] = [
    ['1s', 1_000],
    ['10s', 10_000],
    ['5m', 300_000],
    ['12h', 43_200_000],
    ['30d', 2_592_000_000],
    [' 30d ', 2_592_000_000],
    ['007d', 604_800_000],
    ['36500d', 3_153_600_000_000],
    ['36501d', null],
    ['0d', null],
    ['-1d', null],
    ['1.5h', null],
    ['1e3s', null],
    ['30', null],
    ['d', null],
    ['30 d', null],
    ['30D', null],
    ['1w', null],
    ['1d12h', null],
    ['٣d', null],
    ['', null],
    ['9999999999999999999999d', null],
  ]
  for (const [text, ms] of table) {
    test(`${ms === null ? 'refuses' : 'reads'} ${JSON.stringify(text)}`, () => {
      const parsed = parseDurationMs(text, 'expires-in')
      expect(parsed.ok ? parsed.value : null).toBe(ms)
      if (!parsed.ok) expect(parsed.refusal.field).toBe('expires-in')
    })
  }
})

describe('parseLimit()', () => {
  const table: [text: string, limit: { readings: number; windowMs: number } | null][] = [
    ['6000/60', { readings: 6_000, windowMs: 60_000 }],
    [' 1/1 ', { readings: 1, windowMs: 1_000 }],
    ['10000000/86400', { readings: 10_000_000, windowMs: 86_400_000 }],
    ['10000001/86400', null],
    ['10000000/86401', null],
    ['0/60', null],
    ['60/0', null],
    ['60', null],
    ['60/60/60', null],
    ['60/1.5', null],
    ['-60/60', null],
    ['6e3/60', null],
    ['', null],
  ]
  for (const [text, limit] of table) {
    test(`${limit === null ? 'refuses' : 'reads'} ${JSON.stringify(text)}`, () => {
      const parsed = parseLimit(text)
      expect(parsed.ok ? parsed.value : null).toEqual(limit)
      if (!parsed.ok) {
        expect(parsed.refusal.rule).toBe(
          'The limit must be 1 to 10000000 readings per 1 to 86400 seconds, like 6000/60.',
        )
      }
    })
  }
})

describe('limitWithin()', () => {
  test('accepts whole numbers within the bounds of a limit, and null', () => {
    const table: [limit: Limit | null, isWithin: boolean][] = [
      [null, true],
      [{ readings: 1, windowMs: 1_000 }, true],
      [{ readings: 1, windowMs: 999 }, false],
      [{ readings: 1.5, windowMs: 1_000 }, false],
      [{ readings: 1, windowMs: 1_000.5 }, false],
      [{ readings: Number.NaN, windowMs: 1_000 }, false],
    ]
    for (const [limit, isWithin] of table) expect([limit, limitWithin(limit).ok]).toEqual([limit, isWithin])
  })
})

describe('retentionWithin()', () => {
  const dayMs = 86_400_000
  test('accepts whole days up to a hundred years, and null', () => {
    for (const ms of [null, dayMs, 365 * dayMs, 36_500 * dayMs]) {
      expect(retentionWithin(ms)).toEqual({ ok: true, value: ms })
    }
  })

  test('refuses shorter and longer times, and parts of a day', () => {
    for (const ms of [
      0,
      -dayMs,
      dayMs - 1,
      dayMs + 1,
      1.5 * dayMs,
      36_501 * dayMs,
      Number.NaN,
      Number.POSITIVE_INFINITY,
    ]) {
      expect(retentionWithin(ms)).toMatchObject({ ok: false, refusal: { field: 'retention' } })
    }
  })
})

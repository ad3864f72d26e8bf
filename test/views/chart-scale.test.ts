import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { aboutText, shareOf, timeTicks, valueScale, valueText } from '../../views/kegs/chart-scale.ts'
import { shapesOf } from '../../views/kegs/chart-shape.ts'
import type { ChartSeries } from '../../views/kegs/keg-types.ts'

const seriesOf = (values: readonly number[], gaps: ChartSeries['gaps'] = []): ChartSeries => ({
  rack: 'rack',
  keg: 'keg',
  unit: null,
  number: 0,
  points: values.map((value, at) => ({ at, mean: value, min: value, max: value, count: 1, place: null })),
  gaps,
  isSingle: false,
})

describe('valueScale()', () => {
  test('has round numbers around the values', () => {
    const scale = valueScale([seriesOf([9.6, 13.2])])
    expect(scale.ticks.map(({ text }) => text)).toEqual(['9', '10', '11', '12', '13', '14'])
    expect(valueScale([seriesOf([0.12, 0.14])]).ticks.map(({ text }) => text)[0]).toBe('0.120')
    expect(valueScale([seriesOf([12, 12])]).ticks.map(({ text }) => text)).toContain('12.0')
  })

  test('draws values that differ by a fault of computing as equal ones', () => {
    const { low, high, decimals, ticks } = valueScale([seriesOf([20.5, 20.500000000000004])])
    expect([low, high, decimals, ticks.length]).toEqual([18, 23, 2, 6])
    expect(valueText(20.5, decimals)).toBe('20.50')
    const tiny = valueScale([seriesOf([5e-324, 4e-323])])
    for (const value of [5e-324, 4e-323]) expect(shareOf(value, tiny)).toBeCloseTo(0.5, 1)
  })

  test('keeps the digits of values without round numbers between them', () => {
    const { decimals, ticks } = valueScale([seriesOf([1e-25, 2e-25])])
    expect(valueText(1.5e-25, decimals)).toBe('1.5e-25')
    expect(ticks[0]?.text).toBe('1e-25')
  })

  test('has few ticks and a share between 0 and 1, for any values', () => {
    expect(valueScale([seriesOf([-Number.MAX_VALUE])]).ticks.length).toBeGreaterThan(1)
    const values = fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(values, (some) => {
        const scale = valueScale([seriesOf(some)])
        expect(scale.ticks.length).toBeGreaterThan(0)
        expect(scale.ticks.length).toBeLessThan(9)
        for (const { text } of scale.ticks) expect(text).not.toMatch(/Infinity|∞|NaN/)
        for (const value of some) {
          const share = shareOf(value, scale)
          expect(share).toBeGreaterThanOrEqual(-1e-9)
          expect(share).toBeLessThanOrEqual(1 + 1e-9)
        }
      }),
    )
  })
})

describe('timeTicks()', () => {
  test('has round times, and names each day once', () => {
    const [from, to] = [Date.UTC(2026, 10, 22, 9, 40), Date.UTC(2026, 10, 23, 9, 40)]
    expect(timeTicks(from, to).map(({ text }) => text)).toEqual([
      '22 Nov 12:00',
      '16:00',
      '20:00',
      '23 Nov 00:00',
      '04:00',
      '08:00',
    ])
  })

  test('has months for a year, and at most eight ticks for any range', () => {
    const year = timeTicks(Date.UTC(2025, 10, 23), Date.UTC(2026, 10, 23))
    expect(year.map(({ text }) => text)).toEqual(['Jan 2026', 'Mar', 'May', 'Jul', 'Sep', 'Nov'])
    const range = fc.tuple(fc.integer({ min: 0, max: 2e12 }), fc.integer({ min: 60_000, max: 1e11 }))
    fc.assert(
      fc.property(range, ([from, length]) => {
        const ticks = timeTicks(from, from + length)
        expect(ticks.length).toBeLessThanOrEqual(8)
        for (const { at } of ticks) expect(at >= from && at <= from + length).toBe(true)
      }),
    )
  })
})

test('a chart breaks its line at a gap, and draws a lone point', () => {
  const gap = { fromMs: 1, toMs: 2, isOpen: false }
  const axes = { fromMs: 0, toMs: 2, scale: valueScale([seriesOf([1, 2])]), height: 100 }
  const { line, dots } = shapesOf(seriesOf([1, 1, 2], [gap]), axes)
  expect(line.match(/M/g)).toHaveLength(2)
  expect(dots.match(/h0/g)).toHaveLength(1)
})

test('a zero has no minus', () => {
  expect([-0, -0.0004, -0.4].map((value) => valueText(value, 3))).toEqual(['0.000', '0.000', '-0.400'])
})

test('a length of time is said in its two largest units', () => {
  expect([40_000, 7_200_000, 11_400_000, 3_599_999, 180_000, 400].map(aboutText)).toEqual([
    '40 s',
    '2 h',
    '3 h 10 min',
    '1 h',
    '3 min',
    '400 ms',
  ])
})

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { Histogram, quantileOf } from '../src/histogram.ts'

const filled = (bounds: readonly number[], values: readonly number[]): Histogram => {
  const histogram = new Histogram(bounds)
  for (const value of values) histogram.observe(value)
  return histogram
}

describe('Histogram', () => {
  test('counts a value at a bound below it, and values over all bounds last', () => {
    const histogram = filled([1, 2], [0, 1, 1.1, 2, 2.1, 100])
    expect(histogram.counts).toEqual([2, 2, 2])
    expect(histogram.sum).toBeCloseTo(106.2)
  })
})

describe('quantileOf()', () => {
  test('spreads the values of a bucket evenly, as histogram_quantile of Prometheus does', () => {
    expect(quantileOf([1, 2, 4], [50, 40, 10, 0], 0.5)).toBe(1)
    expect(quantileOf([1, 2, 4], [50, 40, 10, 0], 0.99)).toBeCloseTo(3.8)
    expect(quantileOf([1, 2, 4], [0, 0, 8, 0], 0.25)).toBe(2.5)
  })

  test('is the last bound for values over all bounds, and null without values', () => {
    expect(quantileOf([1, 2], [0, 0, 3], 0.5)).toBe(2)
    expect(quantileOf([1, 2], [0, 0, 0], 0.5)).toBeNull()
  })

  test('lies in the bucket of the value that it stands for', () => {
    const bounds = [1, 2, 4, 8]
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0, max: 8, noNaN: true }), { minLength: 1, maxLength: 200 }),
        fc.double({ min: 0.01, max: 1, noNaN: true }),
        (values, part) => {
          const sorted = values.toSorted((a, b) => a - b)
          const exact = sorted[Math.ceil(part * sorted.length - 1e-9) - 1] ?? Number.NaN
          const upper = bounds.find((bound) => exact <= bound) ?? Number.NaN
          const quantile = quantileOf(bounds, filled(bounds, values).counts, part) ?? Number.NaN
          expect(quantile).toBeLessThanOrEqual(upper)
          expect(quantile).toBeGreaterThanOrEqual(upper === 1 ? 0 : upper / 2)
        },
      ),
    )
  })
})

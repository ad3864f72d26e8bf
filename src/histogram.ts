/** How often values fell below each bound. A few additions for each value, so it can be filled for each request. */
export class Histogram {
  readonly bounds: readonly number[]
  /** The last one counts the values over all bounds. */
  readonly #counts: Float64Array
  #sum = 0

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.#counts = new Float64Array(bounds.length + 1)
  }

  get sum(): number {
    return this.#sum
  }

  get counts(): readonly number[] {
    return [...this.#counts]
  }

  observe(value: number, times = 1): void {
    let bucket = 0
    for (const bound of this.bounds) {
      if (value <= bound) break
      bucket += 1
    }
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + times
    this.#sum += value * times
  }
}

/** In seconds. */
export const latencyBounds = [
  0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1, 2.5, 5,
] as const

/**
 * The value that the share `part` of all values does not exceed, as Prometheus computes it: within its bucket, values count
 * as spread evenly. `null` without values.
 */
export const quantileOf = (bounds: readonly number[], counts: readonly number[], part: number): number | null => {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let below = 0
  let from = 0
  for (const [bucket, bound] of bounds.entries()) {
    const count = counts[bucket] ?? 0
    if (count > 0 && below + count >= part * total) return from + ((bound - from) * (part * total - below)) / count
    below += count
    from = bound
  }
  return from
}

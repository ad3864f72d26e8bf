import { nanosecondsPastMs } from '../src/domain/timestamp-fraction.ts'
import { pointsPerKegMax } from '../src/limits.ts'
import type { AcceptedReading, KegLatest } from './queries.ts'

/** Recorded at, value, the timestamp's ms and the nanoseconds past it: numbers side by side, without an object for each. */
const numbersPerPoint = 4
const numbersMax = pointsPerKegMax * numbersPerPoint

/** One keg of one cellar: its latest reading and its last points. */
export class Keg {
  /** Neighbours in the order of use, which `Kegs` keeps. */
  older: Keg | null = null
  newer: Keg | null = null
  #latest: AcceptedReading | null = null
  #latestMs = Number.NEGATIVE_INFINITY
  readonly #points: number[] = []
  #next = 0
  #newestMs = Number.NEGATIVE_INFINITY

  constructor(
    readonly rack: string,
    readonly keg: string,
  ) {}

  /** Adds a point; answers whether one with the same timestamp and value was still remembered. */
  remember(point: {
    readonly recordedAt: number
    readonly value: number
    readonly timestamp: string
    readonly timestampMs: number
  }): boolean {
    const { recordedAt, value, timestampMs } = point
    const nanoseconds = nanosecondsPastMs(point.timestamp)
    // Nearly every reading is newer than all before it, and then there is nothing to look for.
    const isRepeat = timestampMs <= this.#newestMs && this.#has(value, timestampMs, nanoseconds)
    if (timestampMs > this.#newestMs) this.#newestMs = timestampMs
    const at = this.#next
    this.#points[at] = recordedAt
    this.#points[at + 1] = value
    this.#points[at + 2] = timestampMs
    this.#points[at + 3] = nanoseconds
    this.#next = at + numbersPerPoint === numbersMax ? 0 : at + numbersPerPoint
    return isRepeat
  }

  /** The latest is the one with the latest timestamp; of two with the same, the one that came later. */
  offerLatest(reading: AcceptedReading, timestampMs: number): void {
    if (timestampMs < this.#latestMs) return
    if (timestampMs === this.#latestMs && this.#latest !== null && !isLater(reading, this.#latest)) return
    this.#latest = reading
    this.#latestMs = timestampMs
  }

  /** `null` while every reading of it was ahead of time. */
  show(): KegLatest | null {
    if (this.#latest === null) return null
    const points: { readonly recordedAt: number; readonly value: number }[] = []
    const { length } = this.#points
    const oldest = length < numbersMax ? 0 : this.#next
    for (let offset = 0; offset < length; offset += numbersPerPoint) {
      const at = (oldest + offset) % length
      points.push({ recordedAt: this.#points[at] ?? 0, value: this.#points[at + 1] ?? 0 })
    }
    return { rack: this.rack, keg: this.keg, latest: this.#latest, points }
  }

  #has(value: number, timestampMs: number, nanoseconds: number): boolean {
    for (let at = 0; at < this.#points.length; at += numbersPerPoint) {
      if (
        this.#points[at + 2] === timestampMs &&
        this.#points[at + 1] === value &&
        this.#points[at + 3] === nanoseconds
      ) {
        return true
      }
    }
    return false
  }
}

const isLater = (a: AcceptedReading, b: AcceptedReading): boolean => {
  const difference = nanosecondsPastMs(a.timestamp) - nanosecondsPastMs(b.timestamp)
  return difference === 0 ? a.position > b.position : difference > 0
}

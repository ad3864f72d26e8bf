import { latestReadingsPerCellarMax } from '../src/limits.ts'
import type { AcceptedReading } from './queries.ts'

/**
 * The last `latestReadingsPerCellarMax` accepted readings of a cellar, in a ring. Several keys write to one cellar, so
 * a reading can be folded after a newer reading. Then `push` moves the reading before the newer reading.
 */
export class LatestReadings {
  readonly #items: AcceptedReading[] = []
  #next = 0

  push(reading: AcceptedReading): void {
    const oldest = this.#items[this.#next]
    if (oldest !== undefined && isBefore(reading, oldest)) return
    let at = this.#next
    this.#items[at] = reading
    this.#next = at + 1 === latestReadingsPerCellarMax ? 0 : at + 1
    // Nearly every reading is the newest, so this loop usually ends at once.
    for (let before = indexBefore(at); at !== this.#next; before = indexBefore(before)) {
      const other = this.#items[before]
      if (other === undefined || !isBefore(reading, other)) return
      this.#items[at] = other
      this.#items[before] = reading
      at = before
    }
  }

  /** The oldest reading is first. */
  toArray(): AcceptedReading[] {
    if (this.#items.length < latestReadingsPerCellarMax) return [...this.#items]
    return [...this.#items.slice(this.#next), ...this.#items.slice(0, this.#next)]
  }
}

const indexBefore = (index: number): number => (index === 0 ? latestReadingsPerCellarMax - 1 : index - 1)

/** Readings of the same millisecond are ordered by position, so that the order of folding does not matter. */
const isBefore = (a: AcceptedReading, b: AcceptedReading): boolean =>
  a.recordedAt < b.recordedAt || (a.recordedAt === b.recordedAt && a.position < b.position)

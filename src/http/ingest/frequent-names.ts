/**
 * Counts the names that come most often, in bounded memory however many different names come (Misra and Gries). A name that
 * comes when every counter is taken lowers all counters by one instead, and those at zero become free. So counts are exact
 * while no more than `countersMax` names have come. After that each is too low, by at most the total divided by
 * `countersMax + 1`, and never too high.
 */
export class FrequentNames {
  readonly #counts = new Map<string, number>()

  constructor(readonly countersMax: number) {}

  /** Counters in use. */
  get size(): number {
    return this.#counts.size
  }

  count(name: string): void {
    const known = this.#counts.get(name)
    if (known !== undefined) this.#counts.set(name, known + 1)
    else if (this.#counts.size < this.countersMax) this.#counts.set(name, 1)
    else this.#lowerAll()
  }

  /** The `namesMax` names with the highest counts, highest first. */
  top(namesMax: number): readonly (readonly [name: string, count: number])[] {
    return [...this.#counts].toSorted((a, b) => b[1] - a[1]).slice(0, namesMax)
  }

  clear(): void {
    this.#counts.clear()
  }

  #lowerAll(): void {
    for (const [name, count] of this.#counts) {
      if (count === 1) this.#counts.delete(name)
      else this.#counts.set(name, count - 1)
    }
  }
}

/**
 * The algorithm of Misra and Gries: memory is bounded, however many names there are. When all counters are in use, a new
 * name lowers every counter by one. So a count is never too high. It is too low by at most the number of all calls of
 * `count`, divided by `countersMax + 1`.
 */
export class FrequentNames {
  readonly #counts = new Map<string, number>()

  constructor(readonly countersMax: number) {}

  get size(): number {
    return this.#counts.size
  }

  count(name: string): void {
    const known = this.#counts.get(name)
    if (known !== undefined) this.#counts.set(name, known + 1)
    else if (this.#counts.size < this.countersMax) this.#counts.set(name, 1)
    else this.#lowerAll()
  }

  /** Highest count first. */
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

/** The times mostly grow, so adding to the last time is the fast path. */
export class Tally {
  #at = -1
  #count = 0
  #others: Map<number, number> | null = null

  /** True: the tally had no count of this time before. */
  add(at: number, count: number): boolean {
    if (at === this.#at) {
      this.#count += count
      return false
    }
    return this.#addToOther(at, count)
  }

  *entries(): Generator<readonly [at: number, count: number]> {
    if (this.#others !== null) yield* this.#others
    if (this.#count > 0) yield [this.#at, this.#count]
  }

  #addToOther(at: number, count: number): boolean {
    if (this.#count > 0) {
      this.#others ??= new Map()
      this.#others.set(this.#at, this.#count)
    }
    const known = this.#others?.get(at)
    this.#others?.delete(at)
    this.#at = at
    this.#count = (known ?? 0) + count
    return known === undefined
  }
}

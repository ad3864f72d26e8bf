import type { LastOfKeg } from './stored-kegs.ts'

/** Of a full cellar, oldest last. Made anew after each flush. */
export class SilentKegs {
  readonly #kegs: LastOfKeg[]

  constructor(kegs: readonly LastOfKeg[]) {
    this.#kegs = kegs.toSorted((a, b) => (isOlder(a, b) ? 1 : -1))
  }

  add(keg: LastOfKeg): void {
    let [low, high] = [0, this.#kegs.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      const other = this.#kegs[middle]
      if (other !== undefined && isOlder(keg, other)) low = middle + 1
      else high = middle
    }
    this.#kegs.splice(low, 0, keg)
  }

  /**
   * `now` returns the keg as it is now, or `null` if it is gone. A keg that had a newer reading meanwhile goes back to its
   * place.
   */
  take(now: (keg: LastOfKeg) => LastOfKeg | null): LastOfKeg | null {
    for (let keg = this.#kegs.pop(); keg !== undefined; keg = this.#kegs.pop()) {
      const current = now(keg)
      if (current === null) continue
      if (!isOlder(keg, current)) return current
      this.add(current)
    }
    return null
  }
}

const isOlder = (a: LastOfKeg, b: LastOfKeg): boolean => {
  if (a.timeMs !== b.timeMs) return a.timeMs < b.timeMs
  return a.nanoseconds === b.nanoseconds ? a.position < b.position : a.nanoseconds < b.nanoseconds
}

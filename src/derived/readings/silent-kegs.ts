import type { LastOfKeg, OlderKegs } from './stored-kegs.ts'

/** Of a full cellar, oldest last. Made anew after each flush. The oldest kegs of the file are read only when they are needed. */
export class SilentKegs {
  readonly #read: (afterMs: number) => OlderKegs
  #kegs: LastOfKeg[]
  #readToMs = Number.NEGATIVE_INFINITY

  /** `kegs` are not in the file yet. */
  constructor(kegs: readonly LastOfKeg[], read: (afterMs: number) => OlderKegs) {
    this.#kegs = sorted(kegs)
    this.#read = read
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
    for (;;) {
      const keg = this.#kegs.at(-1)
      if (this.#readToMs < (keg?.timeMs ?? Number.POSITIVE_INFINITY)) {
        const { kegs, toMs } = this.#read(this.#readToMs)
        this.#kegs = sorted([...this.#kegs, ...kegs])
        this.#readToMs = toMs
        continue
      }
      if (keg === undefined) return null
      this.#kegs.pop()
      const current = now(keg)
      if (current === null) continue
      if (!isOlder(keg, current)) return current
      this.add(current)
    }
  }
}

const sorted = (kegs: readonly LastOfKeg[]): LastOfKeg[] => kegs.toSorted((a, b) => (isOlder(a, b) ? 1 : -1))

const isOlder = (a: LastOfKeg, b: LastOfKeg): boolean => {
  if (a.timeMs !== b.timeMs) return a.timeMs < b.timeMs
  return a.nanoseconds === b.nanoseconds ? a.position < b.position : a.nanoseconds < b.nanoseconds
}

import { type KegAtTime, lastsAtOnce, type NamedKegAtTime } from './stored-kegs.ts'

const beforeAll: KegAtTime = { number: -1, timeMs: Number.MIN_SAFE_INTEGER, position: -1 }

/** Of a full cellar, oldest last. Made anew after each flush. The oldest kegs of the file are read only when they are needed. */
export class SilentKegs {
  readonly #read: (after: KegAtTime) => readonly KegAtTime[]
  #kegs: KegAtTime[]
  /** `null`: all kegs of the file were read. */
  #readTo: KegAtTime | null = beforeAll

  /** `kegs` are not in the file yet. */
  constructor(kegs: readonly KegAtTime[], read: (after: KegAtTime) => readonly KegAtTime[]) {
    this.#kegs = sorted(kegs)
    this.#read = read
  }

  add(keg: KegAtTime): void {
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
  take(now: (keg: KegAtTime) => NamedKegAtTime | null): NamedKegAtTime | null {
    for (;;) {
      const keg = this.#kegs.at(-1)
      if (this.#readTo !== null && (keg === undefined || isOlder(this.#readTo, keg))) {
        const kegs = this.#read(this.#readTo)
        this.#kegs = sorted([...this.#kegs, ...kegs])
        this.#readTo = kegs.length < lastsAtOnce ? null : (kegs.at(-1) ?? null)
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

const sorted = (kegs: readonly KegAtTime[]): KegAtTime[] => kegs.toSorted((a, b) => (isOlder(a, b) ? 1 : -1))

const isOlder = (a: KegAtTime, b: KegAtTime): boolean =>
  a.timeMs === b.timeMs ? a.position < b.position : a.timeMs < b.timeMs

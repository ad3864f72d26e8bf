type Bounds = { readonly waitingMax: number; readonly perOwnerMax: number }

/** Owners take turns, so one with many items delays the next item of another by one item only. */
export class FairQueue<T> {
  /** The owner whose turn is next is first. No list is empty. */
  readonly #byOwner = new Map<string, readonly T[]>()
  readonly #bounds: Bounds
  #size = 0

  constructor(bounds: Bounds) {
    this.#bounds = bounds
  }

  get size(): number {
    return this.#size
  }

  put(owner: string, item: T): boolean {
    const waiting = this.#byOwner.get(owner) ?? []
    if (this.#size >= this.#bounds.waitingMax || waiting.length >= this.#bounds.perOwnerMax) return false
    this.#byOwner.set(owner, [...waiting, item])
    this.#size += 1
    return true
  }

  next(mayGo: (owner: string) => boolean = () => true): T | null {
    for (const [owner, [first, ...others]] of this.#byOwner) {
      if (!mayGo(owner)) continue
      this.#byOwner.delete(owner)
      if (others.length > 0) this.#byOwner.set(owner, others)
      if (first === undefined) continue
      this.#size -= 1
      return first
    }
    return null
  }

  takeOut(isOut: (item: T) => boolean): readonly T[] {
    const out: T[] = []
    for (const [owner, waiting] of this.#byOwner) {
      const left = waiting.filter((item) => !isOut(item))
      out.push(...waiting.filter(isOut))
      if (left.length === 0) this.#byOwner.delete(owner)
      else this.#byOwner.set(owner, left)
    }
    this.#size -= out.length
    return out
  }
}

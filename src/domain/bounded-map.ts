/**
 * A further entry removes the one that was set longest ago. If `mustStay` is true for that one, it counts as set now, and
 * the next is removed. The map is larger than its bound only while `mustStay` is true for all entries.
 */
export class BoundedMap<Key, Value> {
  /** In the order of insertion, so the entry that was set longest ago is first. */
  readonly #entries = new Map<Key, Value>()
  /**
   * Goes on where the last removal ended. A new iterator would pass all removed entries that the `Map` still holds, which
   * takes 25 µs with 50,000.
   */
  #oldest = this.#entries.keys()

  constructor(
    readonly entriesMax: number,
    readonly mustStay: (value: Value) => boolean = () => false,
  ) {}

  get(key: Key): Value | undefined {
    return this.#entries.get(key)
  }

  has(key: Key): boolean {
    return this.#entries.has(key)
  }

  values(): MapIterator<Value> {
    return this.#entries.values()
  }

  set(key: Key, value: Value): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    if (this.#entries.size > this.entriesMax) this.#removeOldest()
  }

  delete(key: Key): void {
    this.#entries.delete(key)
  }

  clear(): void {
    this.#entries.clear()
    this.#oldest = this.#entries.keys()
  }

  /** The iterator misses no entry: those before it were removed, and an entry that is set again lies behind it. */
  #removeOldest(): void {
    for (let left = this.#entries.size; left > 0 && this.#entries.size > this.entriesMax; left -= 1) {
      const { done, value: key } = this.#oldest.next()
      if (done === true) return
      const value = this.#entries.get(key)
      this.#entries.delete(key)
      if (value !== undefined && this.mustStay(value)) this.#entries.set(key, value)
    }
  }
}

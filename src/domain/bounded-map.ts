/** A map with at most `entriesMax` entries. A further entry removes the entry that was set longest ago. */
export class BoundedMap<Key, Value> {
  /** A `Map` keeps the order of insertion, so the entry that was set longest ago is first. */
  readonly #entries = new Map<Key, Value>()

  constructor(readonly entriesMax: number) {}

  get(key: Key): Value | undefined {
    return this.#entries.get(key)
  }

  has(key: Key): boolean {
    return this.#entries.has(key)
  }

  set(key: Key, value: Value): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    if (this.#entries.size <= this.entriesMax) return
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest)
      return
    }
  }

  delete(key: Key): void {
    this.#entries.delete(key)
  }

  clear(): void {
    this.#entries.clear()
  }
}

/** A map that holds at most `entriesMax` entries. One more, and the entry that was set longest ago gives way. */
export class BoundedMap<Key, Value> {
  /** The entry that was set longest ago is the first. */
  readonly #entries = new Map<Key, Value>()

  constructor(readonly entriesMax: number) {}

  get(key: Key): Value | undefined {
    return this.#entries.get(key)
  }

  has(key: Key): boolean {
    return this.#entries.has(key)
  }

  /** Sets the entry, and makes it the last one to give way. */
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

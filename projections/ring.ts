/** The last so many of what was pushed. It takes memory only as it fills. */
export class Ring<T> {
  readonly #items: T[] = []
  readonly #capacity: number
  #next = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  push(item: T): void {
    this.#items[this.#next] = item
    this.#next = this.#next + 1 === this.#capacity ? 0 : this.#next + 1
  }

  /** Oldest first. */
  toArray(): T[] {
    if (this.#items.length < this.#capacity) return [...this.#items]
    return [...this.#items.slice(this.#next), ...this.#items.slice(0, this.#next)]
  }
}

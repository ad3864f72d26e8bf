/**
 * The last so many of what was pushed, in an order of its own: what comes late takes its place among the others. It takes
 * memory only as it fills.
 */
export class Ring<T> {
  readonly #items: T[] = []
  readonly #capacity: number
  readonly #isBefore: (a: T, b: T) => boolean
  #next = 0

  constructor(capacity: number, isBefore: (a: T, b: T) => boolean) {
    this.#capacity = capacity
    this.#isBefore = isBefore
  }

  push(item: T): void {
    const oldest = this.#items[this.#next]
    if (oldest !== undefined && this.#isBefore(item, oldest)) return
    let at = this.#next
    this.#items[at] = item
    this.#next = at + 1 === this.#capacity ? 0 : at + 1
    // Nearly always it is the last one already.
    for (let before = this.#indexBefore(at); before !== this.#next; before = this.#indexBefore(before)) {
      const other = this.#items[before]
      if (other === undefined || !this.#isBefore(item, other)) return
      this.#items[at] = other
      this.#items[before] = item
      at = before
    }
  }

  /** In order. */
  toArray(): T[] {
    if (this.#items.length < this.#capacity) return [...this.#items]
    return [...this.#items.slice(this.#next), ...this.#items.slice(0, this.#next)]
  }

  #indexBefore(index: number): number {
    return index === 0 ? this.#capacity - 1 : index - 1
  }
}

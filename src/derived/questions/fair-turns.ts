/** One turn in each turn of the event loop. Owners take turns, so one with many questions delays no other one. */
export class FairTurns {
  /** The owner whose turn is next is first. No owner has an empty list. */
  readonly #waiting = new Map<string, (() => void)[]>()
  #isWorking = false

  next(owner: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const own = this.#waiting.get(owner)
    if (own === undefined) this.#waiting.set(owner, [resolve])
    else own.push(resolve)
    if (!this.#isWorking) void this.#work()
    return promise
  }

  async #work(): Promise<void> {
    this.#isWorking = true
    for (;;) {
      // Between two steps, the thread receives new questions, and the ends of questions.
      await new Promise((resolve) => setImmediate(resolve))
      const [next] = this.#waiting
      if (next === undefined) break
      const [owner, [first, ...others]] = next
      this.#waiting.delete(owner)
      if (others.length > 0) this.#waiting.set(owner, others)
      first?.()
    }
    this.#isWorking = false
  }
}

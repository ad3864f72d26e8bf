/**
 * Bounds how many pages search the log at once. A search takes up to a fifth of a second of the event loop in small pieces. Its
 * reads stand in the same queue as those of devices. Without a bound, 150 tabs would fill that queue for seconds.
 */
import { searchesMax, searchesWaitingMax, searchesWaitingPerOperatorMax } from '../../../limits.ts'

export type Searcher = {
  /** An operator's e-mail. */
  readonly name: string
  /** Aborted when the browser has gone. `null` if nothing ends the wait. */
  readonly signal: AbortSignal | null
}

type Waiting = { readonly searcher: Searcher; readonly enter: (hasPlace: boolean) => void }

export class SearchQueue {
  #running = 0
  /** The searches that came first are first. */
  #waiting: readonly Waiting[] = []

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /** Runs the search when there is a place. Returns `null` if too many searches wait, or if the browser has gone meanwhile. */
  async run<T>(searcher: Searcher, search: () => Promise<T>): Promise<T | null> {
    if (!(await this.#enter(searcher))) return null
    try {
      return await search()
    } finally {
      this.#leave()
    }
  }

  #enter(searcher: Searcher): boolean | Promise<boolean> {
    if (this.#running < searchesMax) {
      this.#running += 1
      return true
    }
    const own = this.#waiting.filter((one) => one.searcher.name === searcher.name)
    if (own.length >= searchesWaitingPerOperatorMax || this.#waiting.length >= searchesWaitingMax) return false
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const waiting = { searcher, enter: resolve }
    this.#waiting = [...this.#waiting, waiting]
    searcher.signal?.addEventListener('abort', () => this.#giveUp(waiting))
    return promise
  }

  #giveUp(waiting: Waiting): void {
    this.#waiting = this.#waiting.filter((one) => one !== waiting)
    waiting.enter(false)
  }

  /** Gives the place to the next search, so that no later search comes in between. */
  #leave(): void {
    const [next, ...others] = this.#waiting
    this.#waiting = others
    if (next === undefined) this.#running -= 1
    else next.enter(true)
  }
}

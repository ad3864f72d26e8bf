/**
 * Some live pages search the log. A search waits for the log and for `ask.db`, which also work on the event loop. So the time of
 * its own pieces says little about its cost. These pages are rendered one at a time, and then all of them rest. The rest is in
 * proportion to the whole time of the rendering, waits included: the busier the service is, the longer it is.
 */
import type { Schedule } from '../../../actors/schedule.ts'
import { liveSearchRestFactor, liveSearchRestMsMax } from '../../../limits.ts'

export type LiveSearchesParts = {
  readonly schedule: Schedule
  readonly passedMs: () => number
  /** Called when the next search can begin. */
  readonly onFree: () => void
}

export class LiveSearches {
  readonly #parts: LiveSearchesParts
  #isFree = true

  constructor(parts: LiveSearchesParts) {
    this.#parts = parts
  }

  /** False while a page is rendered, and while all pages rest. */
  get isFree(): boolean {
    return this.#isFree
  }

  /** Call it only while `isFree`. */
  async run(search: () => Promise<void>): Promise<void> {
    const { schedule, passedMs, onFree } = this.#parts
    const beganMs = passedMs()
    this.#isFree = false
    try {
      await search()
    } finally {
      const restMs = Math.min((passedMs() - beganMs) * liveSearchRestFactor, liveSearchRestMsMax)
      schedule.after(restMs, () => {
        this.#isFree = true
        onFree()
      })
    }
  }
}

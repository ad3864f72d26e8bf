import { clockDoubtMs, clockLeapMsMax } from '../../limits.ts'

/**
 * A purge cannot be undone, so it waits if the clock is in doubt: a day ahead of the log or of the last sweep. The doubt
 * ends when the clock is back, or a day later.
 */
export class PurgeClock {
  #believedMs: number
  #doubt: { readonly sinceMs: number; lastMs: number } | null = null

  /** @param newestMs time of the newest event before this node wrote any */
  constructor(newestMs: number) {
    this.#believedMs = newestMs
  }

  /** Returns the ms that the clock is ahead, or 0 without doubt. Call it once per sweep. */
  doubtedBy(now: number): number {
    const aheadMs = now - this.#believedMs
    if (aheadMs <= clockLeapMsMax) return this.#believe(now)
    const { sinceMs, lastMs } = this.#doubt ?? { sinceMs: now, lastMs: now }
    const isAnotherTime = now < lastMs || now - lastMs > clockLeapMsMax
    this.#doubt = { sinceMs: isAnotherTime ? now : sinceMs, lastMs: now }
    return now - this.#doubt.sinceMs >= clockDoubtMs ? this.#believe(now) : aheadMs
  }

  #believe(now: number): number {
    this.#believedMs = now
    this.#doubt = null
    return 0
  }
}

import { clockDoubtMs, clockLeapMsMax } from '../../limits.ts'

/**
 * Whether this node's clock may decide what goes for good. A clock that is ahead for one moment would purge whatever falls
 * due until then. So one that has leapt ahead, of the newest event that the start found in the log or of what it said at the
 * last look, is in doubt until it is back, or has stood by it for a day: there was nobody here, then, for so long.
 */
export class PurgeClock {
  #believedMs: number
  #doubt: { readonly sinceMs: number; lastMs: number } | null = null

  /** @param newestMs when the newest event of the log was recorded, before this node wrote any. */
  constructor(newestMs: number) {
    this.#believedMs = newestMs
  }

  /** By how many ms the clock lies ahead of what is believed; 0 if it is not in doubt. Asked once for each sweep. */
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

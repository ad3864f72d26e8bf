/** After a larger jump ahead, nothing is purged for `clockDoubtMs`. A wrong clock would purge too much. */
export const clockLeapMsMax = 24 * 3_600_000
export const clockDoubtMs = 24 * 3_600_000

/**
 * A purge cannot be undone. So no purge runs while the clock is more than a day ahead of the log's newest event or of the
 * last sweep. The doubt ends when the clock goes back, or a day later.
 */
export class PurgeClock {
  #believedMs: number
  #doubt: { readonly sinceMs: number; lastMs: number } | null = null

  /**
   * @param newestMs time of the newest event before this node wrote any. Its own events cannot show that its clock is
   * wrong.
   */
  constructor(newestMs: number) {
    this.#believedMs = newestMs
  }

  /** How far the clock is ahead, in ms, or 0. Call it once in each sweep: a call is compared with the one before. */
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

import { retentionMarginMs, retentionMsMin } from '../limits.ts'

/**
 * What was accepted before this instant (ms) may go at `now`: whole days, so that each key is purged once a day at the most.
 * A reading stays at least as long as `retentionMs` says, and at most a day and the margin longer.
 */
export const purgeBefore = (now: number, retentionMs: number): number =>
  Math.max(0, Math.floor((now - retentionMs - retentionMarginMs) / retentionMsMin) * retentionMsMin)

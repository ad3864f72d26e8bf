import { dayMs, minuteMs } from '../calendar.ts'

/** As many as a keg remembers. */
const pausesMax = 11

/**
 * Of pauses from the shortest to the longest. `null`: there are none. The second longest counts: a single outage is not usual, but
 * a pause between bursts is. A new keg may have had one pause between bursts, so its longest counts.
 */
export const pauseToJudge = (sorted: ArrayLike<number>): number | null =>
  sorted[sorted.length - (sorted.length < pausesMax ? 1 : 2)] ?? null

/**
 * How long after its last acceptance a keg counts as silent. A device that sends once a day can be late, so the maximum of a day
 * never comes before the second missed pause.
 */
export const silentAfterMs = (pauseMs: number | null): number =>
  pauseMs === null ? dayMs : Math.max(minuteMs, Math.min(10 * pauseMs, dayMs), 2 * pauseMs)

import { hourMs, minuteMs } from '../calendar.ts'

/** The usual pause of a keg with a single request is not known. */
const silentAfterOneMs = 24 * hourMs
const silentAfterMsMin = 10 * minuteMs
const pausesMax = 3

/** How long after its last acceptance a keg counts as silent. */
export const silentAfterMs = (pauseMs: number | null): number =>
  pauseMs === null ? silentAfterOneMs : Math.max(pausesMax * pauseMs, silentAfterMsMin)

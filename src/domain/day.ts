/** Days of UTC: retention goes by them, so that what goes goes once a day. */
export const dayMs = 24 * 3_600_000

/** Its number since 1970. */
export const dayOf = (ms: number): number => Math.floor(ms / dayMs)

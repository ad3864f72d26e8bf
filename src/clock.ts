/** Time as a parameter: whole milliseconds since 1970-01-01T00:00:00Z. */
export type Clock = { now(): number }

export const systemClock: Clock = { now: () => Date.now() }

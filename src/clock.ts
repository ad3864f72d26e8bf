/** Time as a parameter: whole milliseconds since 1970-01-01T00:00:00Z. */
export type Clock = { now(): number }

/**
 * A machine's clock, which somebody may set, and beside it the ms that have passed since some instant, which nobody can:
 * they never go back, and may stand still while the machine sleeps.
 */
export type MachineClock = Clock & { passedMs(): number }

export const systemClock: MachineClock = { now: () => Date.now(), passedMs: () => performance.now() }

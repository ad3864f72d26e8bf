/** Time is a parameter, so that tests can set it. `now` returns whole ms since 1970 (UTC). */
export type Clock = { now(): number }

/** `passedMs` never goes back, but may stop while the machine sleeps. */
export type MachineClock = Clock & { passedMs(): number }

export const systemClock: MachineClock = { now: () => Date.now(), passedMs: () => performance.now() }

/** Time is a parameter, so that tests can set the time. `now` returns whole ms since 1970 (UTC). */
export type Clock = { now(): number }

/** `passedMs` never goes back, even if the clock is set back. It can stop while the machine sleeps. */
export type MachineClock = Clock & { passedMs(): number }

export const systemClock: MachineClock = { now: () => Date.now(), passedMs: () => performance.now() }

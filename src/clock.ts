/** A parameter, so that tests can set the time. Whole ms since 1970. */
export type Clock = { now(): number }

/** `passedMs` never goes back. It can stop while the machine sleeps. */
export type MachineClock = Clock & { passedMs(): number }

export const systemClock: MachineClock = { now: () => Date.now(), passedMs: () => performance.now() }

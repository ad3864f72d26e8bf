import type { MachineClock } from '../../../src/clock.ts'

/**
 * Starts at 2026-03-01T12:00:00.000Z. `leap` changes only `now()`, as when somebody sets the clock of the machine.
 * `set` and `advance` also count steps forwards as passed time.
 */
export type ManualClock = MachineClock & { set(ms: number): void; advance(ms: number): void; leap(ms: number): void }

export const manualClock = (startMs = Date.UTC(2026, 2, 1, 12)): ManualClock => {
  let nowMs = startMs
  let passedMs = 0
  const set = (ms: number): void => {
    passedMs += Math.max(0, ms - nowMs)
    nowMs = ms
  }
  return {
    now: () => nowMs,
    passedMs: () => passedMs,
    set,
    advance: (ms) => set(nowMs + ms),
    leap: (ms) => {
      nowMs += ms
    },
  }
}

import type { Clock } from '../../src/clock.ts'

/** A clock that a test moves. Starts at 2026-03-01T12:00:00.000Z. */
export type ManualClock = Clock & { set(ms: number): void; advance(ms: number): void }

export const manualClock = (startMs = Date.UTC(2026, 2, 1, 12)): ManualClock => {
  let nowMs = startMs
  return {
    now: () => nowMs,
    set: (ms) => {
      nowMs = ms
    },
    advance: (ms) => {
      nowMs += ms
    },
  }
}

import type { Limit, RecordedEvent, TypesIn } from '../events.ts'
import type { KeyState } from '../key.ts'
import { refusalOfKey } from '../key-refusal.ts'
import { assertNever, type ReadingRefusal } from '../refusal.ts'
import { RateWindow } from './rate-window.ts'

export type ReadingsEventType = TypesIn<'readings'>

/** Only the key's actor changes it, in place, because a copy for each reading would be slow. */
export type ReadingsState = {
  revision: number | null
  /** The time of the last event (ms). The next event never gets an earlier time. */
  recordedAt: number
  sealed: RecordedEvent<'ReadingsSealed'> | null
  /**
   * The highest revision of the key's stream that a fence names, or -1. An actor must read that stream up to there before
   * it appends readings.
   */
  fencedAt: number
  readonly window: RateWindow
}

export const noReadings = (windowMs: number): ReadingsState => ({
  revision: null,
  recordedAt: 0,
  sealed: null,
  fencedAt: -1,
  window: new RateWindow(windowMs),
})

/** The first event can have any revision: an actor loads only those that still count in the rate window. */
export const foldReadings = (readings: ReadingsState, event: RecordedEvent<ReadingsEventType>): void => {
  if (readings.revision !== null && event.revision !== readings.revision + 1) {
    throw new Error(
      `Cannot fold revision ${event.revision} of "${event.stream}": the last one folded is ${readings.revision}`,
    )
  }
  readings.revision = event.revision
  readings.recordedAt = event.recordedAt
  switch (event.type) {
    case 'ReadingAccepted':
      readings.window.record(event.recordedAt, 1)
      return
    case 'ReadingsSealed':
      readings.sealed = event
      return
    case 'ReadingsFenced':
      readings.fencedAt = Math.max(readings.fencedAt, event.data.keyRevision)
      return
    default:
      assertNever(event)
  }
}

export const foldRun = (
  state: ReadingsState,
  run: { readonly revision: number; readonly recordedAt: number; readonly readings: number },
): void => {
  if (state.revision !== null && run.revision !== state.revision + 1) {
    throw new Error(`Cannot fold a run at revision ${run.revision}: the last one folded is ${state.revision}`)
  }
  state.window.record(run.recordedAt, run.readings)
  state.revision = run.revision + run.readings - 1
  state.recordedAt = run.recordedAt
}

/** The key is judged first, so that a device with a revoked key is never told to retry later. */
export const admit = (
  key: KeyState | null,
  state: ReadingsState,
  at: { readonly limit: Limit; readonly now: number; readonly readings: number },
): ReadingRefusal | null => {
  const { limit, now, readings } = at
  const refusal = refusalOfKey(key, state.sealed !== null, now)
  if (refusal !== null) return refusal
  if (state.window.used(now) + readings <= limit.readings) return null
  if (readings > limit.readings) return { kind: 'batch_too_large', readingsMax: limit.readings, bound: 'key' }
  const retryAfterMs = state.window.retryAfterMs(now, limit.readings, readings)
  return { kind: 'rate_limited', limit, retryAfterMs, window: 'readings' }
}

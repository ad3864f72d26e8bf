import type { Limit, RecordedEvent } from '../events.ts'
import { type KeyState, type KeyStatus, keyStatus } from '../key.ts'
import { assertNever, type ReadingRefusal } from '../refusal.ts'
import { RateWindow } from './rate-window.ts'

export type ReadingsEventType = 'ReadingAccepted' | 'ReadingsSealed' | 'ReadingsFenced'

/**
 * One key's readings, folded from `readings-<id>`. Changed in place: it is folded for every reading, and has one owner,
 * the key's actor.
 */
export type ReadingsState = {
  /** Of the last event folded; `null` before the first. */
  revision: number | null
  /** The last event's time, ms: the next is never recorded earlier. */
  recordedAt: number
  /** The event that ended the stream for good. */
  sealed: RecordedEvent<'ReadingsSealed'> | null
  /** The highest revision of the key's stream that a fence asks for; -1 if none was met. */
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

/** Folds one event of `readings-<id>`. The first may lie at any revision: a fold may begin where the window does. */
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

/** Folds a run of readings that were written by one append: `revision` is the first one's. */
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

const unknown: ReadingRefusal = { kind: 'key_invalid', why: 'unknown' }
const refusalOfStatus: Readonly<Record<Exclude<KeyStatus, 'active'>, ReadingRefusal>> = {
  expired: { kind: 'key_expired' },
  suspended: { kind: 'key_invalid', why: 'suspended' },
  revoked: { kind: 'key_invalid', why: 'revoked' },
}

/** Why the key may store no reading at `now` (ms). `keyStatus` has the order. */
export const refusalOfKey = (key: KeyState | null, isSealed: boolean, now: number): ReadingRefusal | null => {
  if (key === null) return unknown
  const status = keyStatus(key, now, isSealed)
  return status === 'active' ? null : refusalOfStatus[status]
}

/**
 * Whether so many more readings may be accepted now, all of them: the key first, then its window. `null` admits them. More
 * than the limit could never pass, which is another answer than "later".
 */
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

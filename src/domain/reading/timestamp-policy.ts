import type { CellarPolicy } from '../events.ts'
import type { ItemRefusal } from '../refusal.ts'

export type TimestampPolicy = Pick<CellarPolicy, 'readingAgeMsMax' | 'readingAheadMsMax' | 'retentionMs'>

/** The service itself sets no bounds for timestamps. `now` is in ms. */
export const policyRefusal = (timestampMs: number, policy: TimestampPolicy, now: number): ItemRefusal | null => {
  const { readingAgeMsMax, readingAheadMsMax, retentionMs } = policy
  // Otherwise the service would accept readings that are too old to be kept.
  const ageMsMax = Math.min(readingAgeMsMax ?? Number.POSITIVE_INFINITY, retentionMs ?? Number.POSITIVE_INFINITY)
  if (now - timestampMs > ageMsMax) return { kind: 'timestamp_too_old', ageMsMax }
  if (readingAheadMsMax !== null && timestampMs - now > readingAheadMsMax) {
    return { kind: 'timestamp_in_future', aheadMsMax: readingAheadMsMax }
  }
  return null
}

/**
 * For a repeated batch, all items are checked again with the time and the bounds of the first request
 * (docs/decisions/014-repeats-are-judged-where-readings-are-appended.md).
 */
import { done, type Outcome, type ReadingRefusal, type RejectedItem, refused } from '../refusal.ts'
import type { Judgement } from './idempotency-key.ts'
import type { BatchContext, JudgedBatch, TimelessItem } from './judge-batch.ts'
import { policyRefusal } from './timestamp-policy.ts'

/**
 * Raise this number when a change of the checks accepts other items, or refuses items for another reason. Keep the old
 * checks, too, for `idempotencyMs`. Otherwise repeats of older batches get a 503.
 */
export const judgementRules = 1

export const refusalsOf = ({ rejected }: JudgedBatch, { policy, now }: BatchContext): Judgement | null => {
  if (rejected.length === 0) return null
  const { readingAgeMsMax = null, readingAheadMsMax = null, retentionMs = null } = policy ?? {}
  const bounds = { readingAgeMsMax, readingAheadMsMax, retentionMs }
  return { rejected: rejected.length, rules: judgementRules, atMs: now, bounds }
}

/**
 * `store_unavailable` if this version does not have the rules of the first answer. @throws Error if the number of refused
 * items differs from the first answer, because the device would believe a wrong answer.
 */
export const rejectedThen = (
  refusals: Judgement | null,
  items: readonly TimelessItem[],
): Outcome<readonly RejectedItem[], ReadingRefusal> => {
  if (refusals === null) return done([])
  if (refusals.rules !== judgementRules) return refused({ kind: 'store_unavailable' })
  const rejected = rejectedAt(items, refusals)
  if (rejected.length === refusals.rejected) return done(rejected)
  throw new Error(
    `Cannot repeat the answer to a batch: ${refusals.rejected} items were refused, and ${rejected.length} are now`,
  )
}

const rejectedAt = (items: readonly TimelessItem[], { bounds, atMs }: Judgement): readonly RejectedItem[] => {
  const rejected: RejectedItem[] = []
  for (const [index, item] of items.entries()) {
    const refusal = typeof item === 'number' ? policyRefusal(item, bounds, atMs) : item
    if (refusal !== null) rejected.push({ index, refusal })
  }
  return rejected
}

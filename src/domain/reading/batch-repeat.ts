/**
 * Names the refused items of a batch again for a repeat. The log keeps only what the judgement depended on, and a repeat has
 * the same bytes. So its items are judged again (docs/decisions/014-repeats-are-judged-where-readings-are-appended.md).
 */
import { done, type ItemRefusal, type Outcome, type ReadingRefusal, type RejectedItem, refused } from '../refusal.ts'
import type { Judgement, KeptItem, Refusals } from './idempotency-key.ts'
import type { BatchContext, JudgedBatch, ParsedItem } from './judge-batch.ts'
import { policyRefusal } from './reading.ts'

/**
 * Number of the rules in `reading.ts` and `judge-batch.ts`. Raise it when other items become valid, or get another refusal.
 * Keep the old rules for `idempotencyMs`, or an update changes the answer to a repeat.
 */
export const judgementRules = 1

/** What the log keeps of the refused items. `null` if there are none. */
export const refusalsOf = ({ rejected }: JudgedBatch, { policy, now }: BatchContext): Refusals | null => {
  if (rejected.length === 0) return null
  const { readingAgeMsMax = null, readingAheadMsMax = null, retentionMs = null } = policy ?? {}
  const bounds = { readingAgeMsMax, readingAheadMsMax, retentionMs }
  return { kind: 'judgement', rejected: rejected.length, rules: judgementRules, atMs: now, bounds }
}

/** An item judged without the clock: why it is always refused, or the instant of its timestamp (ms). */
export type TimelessItem = ItemRefusal | number

/** Kept until the actor knows if a batch is a repeat. The items themselves may take 1 MiB for each waiting request. */
export const timelessItems = (items: readonly ParsedItem[]): readonly TimelessItem[] =>
  items.map((item) => (item.ok ? item.value.timestampMs : item.refusal))

/** `cellar`: the one that the key belongs to. */
export type RepeatedBatch = { readonly items: readonly TimelessItem[]; readonly cellar: string }

/**
 * The refused items, as the first answer named them. `store_unavailable` if only a newer version knows the rules.
 * @throws Error if the same bytes are judged differently now. A wrong answer would look like the first one.
 */
export const rejectedThen = (
  refusals: Refusals | null,
  { items, cellar }: RepeatedBatch,
): Outcome<readonly RejectedItem[], ReadingRefusal> => {
  if (refusals === null) return done([])
  if (refusals.kind === 'verdicts') return done(refusals.items.map((item) => restoreItem(item, cellar)))
  if (refusals.rules !== judgementRules) return refused({ kind: 'store_unavailable' })
  const rejected = rejectedAt(items, refusals)
  if (rejected.length === refusals.rejected) return done(rejected)
  throw new Error(
    `Cannot repeat the answer to a batch: ${refusals.rejected} items were refused, and ${rejected.length} are now`,
  )
}

const restoreItem = ({ index, refusal }: KeptItem, cellar: string): RejectedItem => {
  if (refusal.kind === 'cellar_mismatch') return { index, refusal: { ...refusal, cellar } }
  if (refusal.kind === 'invalid_body') return { index, refusal: { ...refusal, what: 'item' } }
  return { index, refusal }
}

const rejectedAt = (items: readonly TimelessItem[], { bounds, atMs }: Judgement): readonly RejectedItem[] => {
  const rejected: RejectedItem[] = []
  for (const [index, item] of items.entries()) {
    const refusal = typeof item === 'number' ? policyRefusal(item, bounds, atMs) : item
    if (refusal !== null) rejected.push({ index, refusal })
  }
  return rejected
}

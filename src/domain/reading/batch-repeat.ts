/**
 * The refused items that a repeat of a batch is told. The log keeps no verdicts: they took 50 KB for 999 items. A repeat has
 * the same bytes, so its own items are judged again, by the clock and the bounds of the first time.
 */
import { type Static, Type } from '@sinclair/typebox'
import { done, type ItemRefusal, type Outcome, type ReadingRefusal, type RejectedItem, refused } from '../refusal.ts'
import type { BatchPlace, JudgedBatch, ParsedItem } from './judge-batch.ts'
import { policyRefusal } from './reading.ts'
import { KeptItem, restoreItem } from './rejected-item.ts'

const strict = { additionalProperties: false } as const
const ms = Type.Integer({ minimum: 0, description: 'milliseconds' })
const bound = Type.Union([ms, Type.Null()])

/** What the judgement of a batch depended on besides its bytes and its key's cellar, which never changes. */
const Judgement = Type.Object(
  {
    kind: Type.Literal('judgement'),
    /** How many items were refused. */
    rejected: Type.Integer({ minimum: 1 }),
    /** Which rules judged: see `judgementRules`. */
    rules: Type.Integer({ minimum: 1 }),
    atMs: ms,
    /** Of the cellar. All `null` if the node did not know the cellar: then no bound was applied. */
    bounds: Type.Object({ readingAgeMsMax: bound, readingAheadMsMax: bound, retentionMs: bound }, strict),
  },
  strict,
)

type Judgement = Static<typeof Judgement>

/** The verdicts themselves: what the first version stored. It is read, and no longer written for new batches. */
const KeptVerdicts = Type.Object(
  { kind: Type.Literal('verdicts'), items: Type.Array(KeptItem, { minItems: 1 }) },
  strict,
)

export const Refusals = Type.Union([Judgement, KeptVerdicts])
export type Refusals = Static<typeof Refusals>

/**
 * The number of the rules in `reading.ts` and `judge-batch.ts`. A change of which items are valid, or why one is not, raises this
 * number. The old rules stay callable for `idempotencyMs`: a repeat must not change its answer with an update.
 */
export const judgementRules = 1

/** What the log keeps of the refused items; `null` if there are none. */
export const refusalsOf = ({ rejected }: JudgedBatch, { policy, now }: BatchPlace): Refusals | null => {
  if (rejected.length === 0) return null
  const { readingAgeMsMax = null, readingAheadMsMax = null, retentionMs = null } = policy ?? {}
  const bounds = { readingAgeMsMax, readingAheadMsMax, retentionMs }
  return { kind: 'judgement', rejected: rejected.length, rules: judgementRules, atMs: now, bounds }
}

/** An item without the clock: why it is refused at any time, or the instant of its timestamp (ms). */
export type TimelessItem = ItemRefusal | number

/**
 * Held in memory until the actor knows whether a batch is a repeat. The items themselves are not held: they may be a mebibyte
 * for each request that waits.
 */
export const timelessItems = (items: readonly ParsedItem[]): readonly TimelessItem[] =>
  items.map((item) => (item.ok ? item.value.timestampMs : item.refusal))

/** A batch that came again: its items, and the cellar of its key. */
export type RepeatedBatch = { readonly items: readonly TimelessItem[]; readonly cellar: string }

/**
 * The refused items, as the first answer named them. `store_unavailable` if they were judged by rules that this version does
 * not know: a newer one has the answer.
 * @throws Error if the same bytes are judged differently now: a wrong answer would look like the first one.
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

const rejectedAt = (items: readonly TimelessItem[], { bounds, atMs }: Judgement): readonly RejectedItem[] => {
  const rejected: RejectedItem[] = []
  for (const [index, item] of items.entries()) {
    const refusal = typeof item === 'number' ? policyRefusal(item, bounds, atMs) : item
    if (refusal !== null) rejected.push({ index, refusal })
  }
  return rejected
}

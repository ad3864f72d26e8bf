import { batchReadingsMax } from '../limits.ts'
import type { CellarPolicy } from './events.ts'
import { cellarRefusal, type ParsedReading, parseReading, policyRefusal, type Reading } from './reading.ts'
import { done, type ItemRefusal, type Outcome, type ReadingRefusal, type RejectedItem, refused } from './refusal.ts'

/** A batch of which each item was judged alone: the valid ones in their order, and why each of the others is none. */
export type JudgedBatch = { readonly readings: readonly Reading[]; readonly rejected: readonly RejectedItem[] }

/** The items of a body that was parsed as JSON: `{"readings":[…]}`, and other fields are ignored. */
export const parseBatch = (json: unknown): Outcome<readonly unknown[], ReadingRefusal> => {
  if (typeof json !== 'object' || json === null || !Object.hasOwn(json, 'readings')) return noBatch
  const items: unknown = Reflect.get(json, 'readings')
  if (!Array.isArray(items)) return noBatch
  if (items.length === 0) return refused({ kind: 'batch_empty' })
  if (items.length <= batchReadingsMax) return done(items)
  return refused({ kind: 'batch_too_large', readingsMax: batchReadingsMax, bound: 'batch' })
}

const noBatch = refused<ReadingRefusal>({ kind: 'invalid_body', what: 'batch' })

/** What a reading has to fit: the key's cellar, that cellar's bounds (`null`: not known here), at `now` (ms). */
export type BatchPlace = { readonly cellar: string; readonly policy: CellarPolicy | null; readonly now: number }

export const judgeBatch = (items: readonly unknown[], place: BatchPlace): JudgedBatch => {
  const readings: Reading[] = []
  const rejected: RejectedItem[] = []
  let index = 0
  for (const item of items) {
    const parsed = parseReading(item)
    const refusal = parsed.ok ? refusalAt(parsed.value, place) : asItem(parsed.refusal)
    if (refusal !== null) rejected.push({ index, refusal })
    else if (parsed.ok) readings.push(parsed.value.reading)
    index += 1
  }
  return { readings, rejected }
}

const refusalAt = (parsed: ParsedReading, { cellar, policy, now }: BatchPlace): ItemRefusal | null =>
  cellarRefusal(parsed.reading, cellar) ?? (policy === null ? null : policyRefusal(parsed.timestampMs, policy, now))

const asItem = (refusal: ItemRefusal): ItemRefusal =>
  refusal.kind === 'invalid_body' ? { kind: 'invalid_body', what: 'item' } : refusal

import { batchReadingsMax } from '../../limits.ts'
import { done, type ItemRefusal, type Outcome, type ReadingRefusal, type RejectedItem, refused } from '../refusal.ts'
import {
  cellarRefusal,
  type ParsedReading,
  parseReading,
  policyRefusal,
  type Reading,
  type TimestampPolicy,
} from './reading.ts'

/** Each item is checked alone, so the valid `readings` are stored even if other items are `rejected`. */
export type JudgedBatch = { readonly readings: readonly Reading[]; readonly rejected: readonly RejectedItem[] }

/** Returns the items of `{"readings":[…]}`. Other fields are ignored. */
export const parseBatch = (json: unknown): Outcome<readonly unknown[], ReadingRefusal> => {
  if (typeof json !== 'object' || json === null || !Object.hasOwn(json, 'readings')) return noBatch
  const items: unknown = Reflect.get(json, 'readings')
  if (!Array.isArray(items)) return noBatch
  if (items.length === 0) return refused({ kind: 'batch_empty' })
  if (items.length <= batchReadingsMax) return done(items)
  return refused({ kind: 'batch_too_large', readingsMax: batchReadingsMax, bound: 'batch' })
}

const noBatch = refused<ReadingRefusal>({ kind: 'invalid_body', what: 'batch' })

/**
 * `cellar` is the cellar of the key. `policy` is `null` if this node does not know the cellar. Then timestamps have no
 * bounds. `now` is in ms.
 */
export type BatchContext = { readonly cellar: string; readonly policy: TimestampPolicy | null; readonly now: number }

export const judgeBatch = (items: readonly unknown[], context: BatchContext): JudgedBatch =>
  judgeEach(items, (item) => parseItem(item, context.cellar), context)

export type ParsedItem = Outcome<ParsedReading, ItemRefusal>

export const parseItems = (items: readonly unknown[], cellar: string): readonly ParsedItem[] =>
  items.map((item) => parseItem(item, cellar))

type Time = Omit<BatchContext, 'cellar'>

export const judgeItems = (items: readonly ParsedItem[], time: Time): JudgedBatch =>
  judgeEach(items, (item) => item, time)

/**
 * Parses and checks one item after the other. A list of all parsed items of the largest batch would keep 2,000 objects in
 * memory.
 */
const judgeEach = <T>(items: readonly T[], parsedOf: (item: T) => ParsedItem, { policy, now }: Time): JudgedBatch => {
  const readings: Reading[] = []
  const rejected: RejectedItem[] = []
  let index = 0
  for (const each of items) {
    const item = parsedOf(each)
    const refusal = item.ok ? timeRefusal(item.value.timestampMs, policy, now) : item.refusal
    if (refusal !== null) rejected.push({ index, refusal })
    else if (item.ok) readings.push(item.value.reading)
    index += 1
  }
  return { readings, rejected }
}

const parseItem = (item: unknown, cellar: string): ParsedItem => {
  const parsed = parseReading(item)
  if (!parsed.ok) return parsed.refusal.kind === 'invalid_body' ? notAnObject : parsed
  const mismatch = cellarRefusal(parsed.value.reading, cellar)
  return mismatch === null ? parsed : refused(mismatch)
}

const notAnObject = refused<ItemRefusal>({ kind: 'invalid_body', what: 'item' })

const timeRefusal = (timestampMs: number, policy: TimestampPolicy | null, now: number): ItemRefusal | null =>
  policy === null ? null : policyRefusal(timestampMs, policy, now)

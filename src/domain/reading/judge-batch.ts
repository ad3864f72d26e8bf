import { batchReadingsMax } from '../../limits.ts'
import { done, type ItemRefusal, type Outcome, type ReadingRefusal, type RejectedItem, refused } from '../refusal.ts'
import { ColumnsBuilder, type Name, ofBatch, type ReadingColumns, type ReadingOfBatch } from './columns.ts'
import type { NameCache } from './name-cache.ts'
import { cellarRefusal, type ParsedReading, parseReading } from './reading.ts'
import { policyRefusal, type TimestampPolicy } from './timestamp-policy.ts'

/** The valid `readings` are stored even if other items are `rejected`, in order of index. */
export type JudgedBatch = { readonly readings: ReadingColumns; readonly rejected: readonly RejectedItem[] }

/** The batch after all checks that do not depend on the current time. */
export type ParsedBatch = JudgedBatch

export const parseBatch = (json: unknown): Outcome<readonly unknown[], ReadingRefusal> => {
  if (typeof json !== 'object' || json === null || !Object.hasOwn(json, 'readings')) return noBatch
  const items: unknown = Reflect.get(json, 'readings')
  if (!Array.isArray(items)) return noBatch
  if (items.length === 0) return refused({ kind: 'batch_empty' })
  if (items.length <= batchReadingsMax) return done(items)
  return refused({ kind: 'batch_too_large', readingsMax: batchReadingsMax, bound: 'batch' })
}

const noBatch = refused<ReadingRefusal>({ kind: 'invalid_body', what: 'batch' })

/** Collects the items of one batch after the other. All readings are of the cellar of the key. */
export class BatchItems {
  readonly #names: NameCache
  readonly #columns = new ColumnsBuilder()
  #cellar = ''
  #rejected: RejectedItem[] = []

  constructor(names: NameCache) {
    this.#names = names
  }

  begin(cellar: string): Name {
    const name = this.#names.named(cellar)
    this.#cellar = cellar
    this.#columns.begin(name)
    this.#rejected = []
    return name
  }

  get count(): number {
    return this.#columns.count + this.#rejected.length
  }

  add(reading: ReadingOfBatch): void {
    this.#columns.push(reading)
  }

  judge(json: unknown): void {
    const item = parseItem(json, this.#cellar)
    if (!item.ok) {
      this.#rejected.push({ index: this.count, refusal: item.refusal })
      return
    }
    this.#columns.push(ofBatch(item.value, (name) => this.#names.named(name)))
  }

  finish(): ParsedBatch {
    return { readings: this.#columns.finish(), rejected: this.#rejected }
  }
}

const parseItem = (item: unknown, cellar: string): Outcome<ParsedReading, ItemRefusal> => {
  const parsed = parseReading(item)
  if (!parsed.ok) return parsed.refusal.kind === 'invalid_body' ? notAnObject : parsed
  const mismatch = cellarRefusal(parsed.value.reading, cellar)
  return mismatch === null ? parsed : refused(mismatch)
}

const notAnObject = refused<ItemRefusal>({ kind: 'invalid_body', what: 'item' })

/** An item after all checks that do not depend on the current time: its refusal, or its timestamp (ms). */
export type TimelessItem = ItemRefusal | number

export const timelessItems = ({ readings, rejected }: ParsedBatch): readonly TimelessItem[] => {
  const items: TimelessItem[] = []
  let next = 0
  const addRefusals = (): void => {
    for (let item = rejected[next]; item?.index === items.length; item = rejected[next]) {
      items.push(item.refusal)
      next += 1
    }
  }
  for (let index = 0; index < readings.count; index += 1) {
    addRefusals()
    items.push(readings.timesMs[index] ?? 0)
  }
  addRefusals()
  return items
}

/** `policy` is `null` if this node does not know the cellar. `now` is in ms. */
export type BatchContext = { readonly policy: TimestampPolicy | null; readonly now: number }

/** If a timestamp is refused, the valid readings are copied. */
export const judgeBatch = (parsed: ParsedBatch, { policy, now }: BatchContext): JudgedBatch => {
  const { readings } = parsed
  if (policy === null || areInTime(readings, policy, now)) return parsed
  inTime.begin(readings.cellar)
  const rejected: RejectedItem[] = []
  let at = 0
  for (const [index, item] of timelessItems(parsed).entries()) {
    const refusal = typeof item === 'number' ? policyRefusal(item, policy, now) : item
    if (refusal !== null) rejected.push({ index, refusal })
    else inTime.copy(readings, at)
    if (typeof item === 'number') at += 1
  }
  return { readings: inTime.finish(), rejected }
}

/** One builder for all batches: a new one for each would often make a new slab. */
const inTime = new ColumnsBuilder()

/** A policy bounds only the earliest and the latest timestamp, so the others need no check. */
const areInTime = ({ count, timesMs }: ReadingColumns, policy: TimestampPolicy, now: number): boolean => {
  let earliest = Number.POSITIVE_INFINITY
  let latest = Number.NEGATIVE_INFINITY
  // Not `for … of`, which calls the iterator of the typed array for each number.
  for (let index = 0; index < count; index += 1) {
    const timeMs = timesMs[index] ?? 0
    if (timeMs < earliest) earliest = timeMs
    if (timeMs > latest) latest = timeMs
  }
  return policyRefusal(earliest, policy, now) === null && policyRefusal(latest, policy, now) === null
}

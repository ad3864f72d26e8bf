/**
 * Reads a batch into columns without an object for each reading (docs/decisions/029-batches-are-scanned.md). The scanner
 * refuses nothing: `scan` returns `null` for another form, and the caller parses the whole body.
 */
import { isOptional, nameFields, requiredFields } from '../../domain/reading/fields.ts'
import type { BatchItems, ParsedBatch } from '../../domain/reading/judge-batch.ts'
import type { NameCache } from '../../domain/reading/name-cache.ts'
import { batchReadingsMax } from '../../limits.ts'
import { batchStructuralCharsMax } from '../http-bounds.ts'
import { batchNamesMax, endOfValue, limitPart, type StructureCounts } from './json/json-structure.ts'
import { odd, pastSpace, ReadingScanner } from './scan-reading.ts'

/**
 * Up to this number of items of an unusual form, or one in `batchItemsPerOddItem`, are parsed alone. With more, one
 * `JSON.parse` of the whole body is faster.
 */
export const batchOddItemsMax = 16
export const batchItemsPerOddItem = 4
/** A longer item has unused data. Then the whole body is parsed, so that its data is read only once. */
export const oddItemBytesMax = 4 * 1024

export class BatchScanner {
  readonly #items: BatchItems
  readonly #reading: ReadingScanner
  /** The counts of items of an unusual form. They lie in a list in an object, so the depth begins with 2. */
  #counts: StructureCounts = { depth: 2, structural: 0, names: 0 }
  #oddItems = 0
  #otherFields = 0

  constructor(items: BatchItems, names: NameCache) {
    this.#items = items
    this.#reading = new ReadingScanner(names)
  }

  /** Also `null` if the body could exceed a bound of `json/json-structure.ts`. */
  scan(body: Uint8Array, cellar: string): ParsedBatch | null {
    const items = this.#items
    this.#reading.begin(body, items.begin(cellar).utf8)
    this.#counts = { depth: 2, structural: 0, names: 0 }
    this.#oddItems = 0
    this.#otherFields = 0
    const from = pastHead(body)
    if (from === odd) return null
    const end = this.#scanItems(body, from)
    return end !== odd && isTail(body, end) && this.#isWithinBounds() ? items.finish() : null
  }

  #scanItems(body: Uint8Array, from: number): number {
    const items = this.#items
    const reading = this.#reading
    for (let at = from; items.count < batchReadingsMax; at += 1) {
      const first = pastSpace(body, at)
      at = reading.scan(first)
      if (at !== odd) {
        this.#otherFields += reading.otherFields
        items.add(reading)
      } else {
        at = this.#parseOddItem(body, first)
        if (at === odd) return odd
      }
      at = pastSpace(body, at)
      if (body[at] === closeBracket) return at + 1
      if (body[at] !== comma) return odd
    }
    return odd
  }

  #parseOddItem(body: Uint8Array, from: number): number {
    this.#oddItems += 1
    if (this.#oddItems > batchOddItemsMax + this.#items.count / batchItemsPerOddItem) return odd
    const end = endOfValue(body, from, Math.min(body.length, from + oddItemBytesMax + 1))
    if (end - from > oddItemBytesMax) return odd
    // The item is copied: `limitPart` overwrites texts, and the whole body may still have to be parsed.
    const item = Uint8Array.prototype.slice.call(body, from, end)
    if (typeof limitPart(item, batchStructuralCharsMax, this.#counts) === 'string') return odd
    const json = parsed(item)
    if (json === notJson) return odd
    this.#items.judge(json)
    return end
  }

  /** Counts as `limitStructure` does. */
  #isWithinBounds(): boolean {
    const { structural, names } = this.#counts
    const { count } = this.#items
    const plain = count - this.#oddItems
    const ofPlain = plain * structuralCharsOfReading + this.#otherFields * structuralCharsOfField
    const chars = structuralCharsAround + (count - 1) + ofPlain + structural
    return chars <= batchStructuralCharsMax && plain * namesOfReading + names <= batchNamesMax
  }
}

/** A byte order mark is invalid inside a body, so it has to stay in the text. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const notJson = Symbol('not JSON')

const parsed = (item: Uint8Array): unknown => {
  // `utf8Slice` is much faster for a short text. It writes this character in place of invalid bytes.
  const text = Buffer.prototype.utf8Slice.call(item, 0, item.length)
  try {
    return JSON.parse(text.includes('\ufffd') ? utf8.decode(item) : text)
  } catch {
    return notJson
  }
}

const pastHead = (body: Uint8Array): number => {
  let at = pastSpace(body, 0)
  if (body[at] !== openBrace) return odd
  at = pastSpace(body, at + 1)
  for (const byte of quotedReadings) {
    if (body[at] !== byte) return odd
    at += 1
  }
  at = pastSpace(body, at)
  if (body[at] !== colon) return odd
  at = pastSpace(body, at + 1)
  return body[at] === openBracket ? at + 1 : odd
}

const isTail = (body: Uint8Array, from: number): boolean => {
  const at = pastSpace(body, from)
  return body[at] === closeBrace && pastSpace(body, at + 1) === body.length
}

const quotedReadings = Buffer.from('"readings"')
const structuralCharsAround = '{:[]}'.length
const structuralCharsOfReading = '{}'.length + 2 * requiredFields.length - 1
const structuralCharsOfField = ',:'.length
const namesOfReading = nameFields.filter((field) => !isOptional(field)).length
const [comma, colon, openBracket, closeBracket, openBrace, closeBrace] = [0x2c, 0x3a, 0x5b, 0x5d, 0x7b, 0x7d]

import { batchReadingsMax } from '../../limits.ts'
import { secondText } from '../calendar.ts'
import type { Reading } from './fields.ts'
import type { ParsedReading } from './reading.ts'
import { bytesAtMost, encodedBytes } from './reading-size.ts'

/** Slabs for 1,000 readings, 32 KB each, that no batch uses now. Further ones are left to the garbage collector. */
export const unusedColumnSlabsMax = 32
/** A smaller batch gets lists of its own length, so a batch takes at most twice the memory that its readings need. */
export const columnSlabReadingsMin = batchReadingsMax / 2

/** The name of a cellar, a rack or a keg. Readings with equal names usually share one `Name`, but need not. */
export class Name {
  readonly text: string
  readonly utf8: Uint8Array
  /** The packed row that was written last with this name, and its number there. */
  packedIn = 0
  packedAs = 0
  /** The number of the `NameCache` that holds the name now, or 0. All names in one cache have different texts. */
  cachedIn = 0
  place = 0
  /** `utf8` stands for the name in JSON: most names need no escapes. */
  readonly isPlain: boolean

  constructor(text: string, utf8: Uint8Array = Buffer.from(text)) {
    this.text = text
    this.utf8 = utf8
    this.isPlain = JSON.stringify(text).length === text.length + 2
  }
}

export type ReadingOfBatch = {
  readonly rack: Name
  readonly keg: Name
  readonly value: number
  /** In ms since 1970, rounded down. */
  readonly timeMs: number
  /** The timestamp's text, if it has another form than `YYYY-MM-DDThh:mm:ssZ` (`textToKeep`). Otherwise `null`. */
  readonly text: string | null
}

/** Lists as long as the largest batch. Large batches use them in turn: new lists would keep the garbage collector busy. */
type Slab = {
  readonly racks: Name[]
  readonly kegs: Name[]
  readonly values: Float64Array
  readonly timesMs: Float64Array
}

const unusedSlabs: Slab[] = []

const newSlab = (): Slab => ({
  racks: [],
  kegs: [],
  values: new Float64Array(batchReadingsMax),
  timesMs: new Float64Array(batchReadingsMax),
})

const noName = new Name('')

type Columns = Slab &
  Pick<ReadingColumns, 'count' | 'cellar' | 'texts' | 'encodedBytesAtMost'> & {
    readonly isSlab: boolean
  }

/**
 * The valid readings of one batch, in their order. An object for each would cost more than all other work on it. The lists
 * can be longer than `count`, and do not change until `giveBack`.
 */
export class ReadingColumns {
  readonly count: number
  readonly cellar: Name
  readonly racks: readonly Name[]
  readonly kegs: readonly Name[]
  readonly values: Float64Array
  /** In ms since 1970, rounded down. */
  readonly timesMs: Float64Array
  /**
   * At the index of a reading: its timestamp as the device sent it, or `null` if that has the form `YYYY-MM-DDThh:mm:ssZ`.
   * `null` instead of the list: all have that form.
   */
  readonly texts: readonly (string | null)[] | null
  /** Never below the size of the readings as JSON (`reading-size.ts`). */
  readonly encodedBytesAtMost: number
  #slab: Slab | null

  constructor(columns: Columns) {
    const { count, cellar, racks, kegs, values, timesMs, texts, encodedBytesAtMost, isSlab } = columns
    this.count = count
    this.cellar = cellar
    this.racks = racks
    this.kegs = kegs
    this.values = values
    this.timesMs = timesMs
    this.texts = texts
    this.encodedBytesAtMost = encodedBytesAtMost
    this.#slab = isSlab ? { racks, kegs, values, timesMs } : null
  }

  /**
   * Call it only when the readings are stored and folded, and nobody reads these columns again. Without a call, the garbage
   * collector takes the lists.
   */
  giveBack(): void {
    const slab = this.#slab
    if (slab === null) return
    this.#slab = null
    // An unused slab would keep these names in memory. Behind `count` are names of earlier batches.
    slab.racks.fill(noName)
    slab.kegs.fill(noName)
    if (unusedSlabs.length < unusedColumnSlabsMax) unusedSlabs.push(slab)
  }

  timestampAt(index: number): string {
    return this.texts?.[index] ?? secondText(this.timesMs[index] ?? 0)
  }

  namedAt(index: number): ReadingOfBatch | null {
    const [rack, keg] = [this.racks[index], this.kegs[index]]
    if (index >= this.count || rack === undefined || keg === undefined) return null
    const [value, timeMs] = [this.values[index] ?? 0, this.timesMs[index] ?? 0]
    return { rack, keg, value, timeMs, text: this.texts?.[index] ?? null }
  }

  /** Too slow for every reading: it makes an object. */
  readingAt(index: number): Reading {
    return {
      cellar: this.cellar.text,
      rack: this.racks[index]?.text ?? '',
      keg: this.kegs[index]?.text ?? '',
      value: this.values[index] ?? 0,
      timestamp: this.timestampAt(index),
    }
  }
}

/** The readings of one request, at least one. The log stores all of them, or none. */
export type Readings = Reading | ReadingColumns

export const isBatch = (readings: Readings): readings is ReadingColumns => readings instanceof ReadingColumns

export const countOf = (readings: Readings): number => (isBatch(readings) ? readings.count : 1)

/** The size counts as JSON, the largest stored form, so that the embedded log and EventStoreDB have the same bound. */
export const encodedBytesExceed = (readings: ReadingColumns, bytesMax: number): boolean => {
  if (readings.encodedBytesAtMost <= bytesMax) return false
  let bytes = 0
  for (let index = 0; index < readings.count; index += 1) bytes += encodedBytes(readings.readingAt(index))
  return bytes > bytesMax
}

/**
 * `finish` hands over the lists of a large batch. It copies those of a small one: a slab would take much more memory than
 * its readings need.
 */
export class ColumnsBuilder {
  #cellar = noName
  /** `null` from the moment when `finish` has handed it over until `begin`. */
  #slab: Slab | null = null
  #texts: (string | null)[] | null = null
  #count = 0
  #nameChars = 0
  #timestampChars = 0

  begin(cellar: Name): void {
    this.#slab ??= unusedSlabs.pop() ?? newSlab()
    this.#cellar = cellar
    this.#texts = null
    this.#count = 0
    this.#nameChars = 0
    this.#timestampChars = 0
  }

  get count(): number {
    return this.#count
  }

  /** Copies the fields, so the caller can use the object again. */
  push({ rack, keg, value, timeMs, text }: ReadingOfBatch): void {
    const at = this.#count
    const slab = this.#begun
    if (at === batchReadingsMax) throw new RangeError(`Cannot hold more than ${batchReadingsMax} readings of a batch`)
    slab.racks[at] = rack
    slab.kegs[at] = keg
    slab.values[at] = value
    slab.timesMs[at] = timeMs
    if (text !== null) this.#texts ??= new Array<string | null>(at).fill(null)
    this.#texts?.push(text)
    this.#count = at + 1
    this.#nameChars += rack.text.length + keg.text.length
    this.#timestampChars += text?.length ?? contractTimestampChars
  }

  /** Does nothing if that batch has no reading at this index. */
  copy(from: ReadingColumns, index: number): void {
    const reading = from.namedAt(index)
    if (reading !== null) this.push(reading)
  }

  finish(): ReadingColumns {
    const count = this.#count
    const isSlab = count >= columnSlabReadingsMin
    const lists = isSlab ? this.#begun : partOf(this.#begun, count)
    if (isSlab) this.#slab = null
    return new ReadingColumns({
      ...lists,
      isSlab,
      count,
      cellar: this.#cellar,
      texts: this.#texts,
      encodedBytesAtMost: bytesAtMost(count, {
        nameChars: this.#nameChars + count * this.#cellar.text.length,
        timestampChars: this.#timestampChars,
      }),
    })
  }

  get #begun(): Slab {
    if (this.#slab === null) throw new Error('Cannot collect readings: no batch was begun')
    return this.#slab
  }
}

const partOf = ({ racks, kegs, values, timesMs }: Slab, count: number): Slab => ({
  racks: racks.slice(0, count),
  kegs: kegs.slice(0, count),
  values: values.slice(0, count),
  timesMs: timesMs.slice(0, count),
})

export const ofBatch = ({ reading, timestampMs }: ParsedReading, named: (text: string) => Name): ReadingOfBatch => {
  const { rack, keg, value, timestamp } = reading
  return { rack: named(rack), keg: named(keg), value, timeMs: timestampMs, text: textToKeep(timestamp) }
}

/** `null` for the form `YYYY-MM-DDThh:mm:ssZ`, which follows from the time. */
export const textToKeep = (timestamp: string): string | null =>
  timestamp.length === contractTimestampChars ? null : timestamp

const contractTimestampChars = '2026-03-01T12:00:00Z'.length

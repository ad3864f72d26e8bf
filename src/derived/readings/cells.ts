import { ByteReader, ByteWriter } from '../../bytes/bytes.ts'
import { readDecimal, writeDecimal } from './decimals.ts'
import {
  bucketCount,
  bucketFirst,
  bucketFirstAt,
  bucketLast,
  bucketLastAt,
  bucketLate,
  bucketLateMs,
  bucketMax,
  bucketMaxPosition,
  bucketMin,
  bucketMinPosition,
  bucketRepeats,
  bucketSecondCount,
  bucketSecondSum,
  bucketSum,
  isBucketDirty,
  numbersPerBucket,
} from './levels.ts'

/** Kegs whose points of a minute or an hour share a row. With more, a row would not fit into a quarter of a page of the file. */
export const kegsPerCell = 32

/**
 * A cell has the buckets of neighbouring kegs for one minute or hour. A row for each bucket would take five times as much
 * time and three times as much disk.
 */
export const cellOf = (keg: number): number => Math.floor(keg / kegsPerCell)

/** Flags in the byte of the keg. Most buckets have none, so what they stand for takes no byte. */
const hasLate = 32
const hasRepeats = 64
const hasSecondHalf = 128

/** A cell begins with a position, and all its positions are written as differences from it, which take two bytes less. */
export class CellReader {
  readonly numbers = new Float64Array(numbersPerBucket)
  readonly #reader: ByteReader
  readonly basePosition: number
  keg = -1
  from = 0
  to = 0

  constructor(bytes: Uint8Array) {
    this.#reader = new ByteReader(bytes)
    this.basePosition = this.#reader.varint()
  }

  /** Reads the next bucket. Returns false at the end. */
  next(): boolean {
    const reader = this.#reader
    if (reader.isAtEnd) return false
    const { numbers } = this
    this.from = reader.at
    const flags = reader.byte()
    this.keg = flags % kegsPerCell
    const count = reader.varint()
    const last = readDecimal(reader)
    const lastAt = readOffset(reader)
    const minPosition = this.basePosition + reader.signedVarint()
    const isOne = count === 1
    const isLate = (flags & hasLate) !== 0
    const isSecond = (flags & hasSecondHalf) !== 0
    numbers[isBucketDirty] = 0
    numbers[bucketCount] = count
    numbers[bucketLast] = last
    numbers[bucketLastAt] = lastAt
    numbers[bucketMinPosition] = minPosition
    numbers[bucketFirst] = isOne ? last : readDecimal(reader)
    numbers[bucketFirstAt] = isOne ? lastAt : readOffset(reader)
    numbers[bucketMin] = isOne ? last : readDecimal(reader)
    numbers[bucketMax] = isOne ? last : readDecimal(reader)
    numbers[bucketMaxPosition] = isOne ? minPosition : minPosition + reader.signedVarint()
    numbers[bucketSecondCount] = !isSecond ? 0 : isOne ? 1 : reader.varint()
    numbers[bucketSecondSum] = !isSecond ? 0 : isOne ? last : readDecimal(reader)
    numbers[bucketSum] = numbers[bucketSecondCount] === count ? 0 : isOne ? last : readDecimal(reader)
    numbers[bucketLate] = isLate ? reader.varint() : 0
    numbers[bucketLateMs] = isLate ? reader.varint() : 0
    numbers[bucketRepeats] = (flags & hasRepeats) === 0 ? 0 : reader.varint()
    this.to = reader.at
    return true
  }

  /** The keg must not be before the bucket that was read last. */
  find(keg: number): boolean {
    const within = keg % kegsPerCell
    if (this.keg >= within) return this.keg === within
    while (this.next()) if (this.keg >= within) return this.keg === within
    return false
  }
}

export class CellWriter {
  readonly #bytes = new ByteWriter()
  #stored: Uint8Array | null = null
  #reader: CellReader | null = null
  #base: number | null = null

  begin(stored: Uint8Array | null): void {
    this.#bytes.begin()
    this.#stored = stored
    this.#reader = stored === null ? null : new CellReader(stored)
    this.#reader?.next()
    this.#base = null
    if (this.#reader !== null) this.#startAt(this.#reader.basePosition)
  }

  /** The buckets must come in order of their kegs. */
  add(keg: number, numbers: Float64Array, at: number): void {
    const within = keg % kegsPerCell
    this.#copyUpTo(within)
    if (this.#reader?.keg === within && !this.#reader.next()) this.#reader = null
    const bytes = this.#bytes
    const count = numbers[at + bucketCount] ?? 0
    const minPosition = numbers[at + bucketMinPosition] ?? 0
    const late = numbers[at + bucketLate] ?? 0
    const repeats = numbers[at + bucketRepeats] ?? 0
    const secondCount = numbers[at + bucketSecondCount] ?? 0
    const base = this.#base ?? this.#startAt(minPosition)
    bytes.byte(
      within + (late > 0 ? hasLate : 0) + (repeats > 0 ? hasRepeats : 0) + (secondCount > 0 ? hasSecondHalf : 0),
    )
    bytes.varint(count)
    writeDecimal(bytes, numbers[at + bucketLast] ?? 0)
    writeOffset(bytes, numbers[at + bucketLastAt] ?? 0)
    bytes.signedVarint(minPosition - base)
    // The other numbers of a bucket with one reading follow from its value.
    if (count > 1) {
      writeDecimal(bytes, numbers[at + bucketFirst] ?? 0)
      writeOffset(bytes, numbers[at + bucketFirstAt] ?? 0)
      writeDecimal(bytes, numbers[at + bucketMin] ?? 0)
      writeDecimal(bytes, numbers[at + bucketMax] ?? 0)
      bytes.signedVarint((numbers[at + bucketMaxPosition] ?? 0) - minPosition)
    }
    if (count > 1 && secondCount > 0) {
      bytes.varint(secondCount)
      writeDecimal(bytes, numbers[at + bucketSecondSum] ?? 0)
    }
    if (count > 1 && secondCount < count) writeDecimal(bytes, numbers[at + bucketSum] ?? 0)
    if (late > 0) {
      bytes.varint(late)
      bytes.varint(numbers[at + bucketLateMs] ?? 0)
    }
    if (repeats > 0) bytes.varint(repeats)
  }

  /** The next cell overwrites the returned bytes. */
  end(): Uint8Array {
    this.#copyUpTo(kegsPerCell)
    return this.#bytes.written
  }

  #startAt(position: number): number {
    this.#bytes.varint(position)
    this.#base = position
    return position
  }

  #copyUpTo(keg: number): void {
    while (this.#reader !== null && this.#stored !== null && this.#reader.keg < keg) {
      this.#bytes.bytes(this.#stored.subarray(this.#reader.from, this.#reader.to))
      if (!this.#reader.next()) this.#reader = null
    }
  }
}

// A time is a whole number of ms, or else of nanoseconds.
const writeOffset = (bytes: ByteWriter, offset: number): void => {
  bytes.varint(Number.isInteger(offset) ? offset * 2 : Math.round(offset * 1e6) * 2 + 1)
}

const readOffset = (reader: ByteReader): number => {
  const number = reader.varint()
  if (number % 2 === 0) return number / 2
  const nanoseconds = (number - 1) / 2
  const ms = Math.floor(nanoseconds / 1e6)
  return ms + (nanoseconds - ms * 1e6) / 1e6
}

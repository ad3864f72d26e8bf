import { ByteReader, ByteWriter } from '../src/bytes/bytes.ts'
import { readName, readText, type WrittenTexts, writeName, writeText } from '../src/bytes/packed-text.ts'
import { checkpointPieceBytes } from '../src/limits.ts'

/**
 * What kinds of records the state is saved as. A record says in its first byte which it is; what follows is written and
 * read side by side in the file of its fold. Whoever changes any of it raises `savedFormat`.
 */
export const kinds = { position: 1, cellar: 2, key: 3, operator: 4, setup: 5, stream: 6, latest: 7, keg: 8 } as const

/** Of all records. A state that was saved in another is not read: it is folded from the log again. */
export const savedFormat = 5

/** Records side by side, cut into pieces that each can be read by themselves. */
export class RecordWriter {
  readonly #bytes = new ByteWriter()
  readonly #pieceBytes: number
  /** Names that the piece has already are written as numbers, and read as one string. */
  #names: WrittenTexts = new Map()

  constructor(pieceBytes: number = checkpointPieceBytes) {
    this.#pieceBytes = pieceBytes
    this.#bytes.begin()
  }

  /** An empty one for pieces of the same size. */
  another(): RecordWriter {
    return new RecordWriter(this.#pieceBytes)
  }

  get isEmpty(): boolean {
    return this.#bytes.length === 0
  }

  /** Long enough to be cut off: encoding one piece is as long as the event loop stands still for it. */
  get isFull(): boolean {
    return this.#bytes.length >= this.#pieceBytes
  }

  /** A copy of the piece so far; the next begins. */
  cut(): Uint8Array {
    return this.lend().slice()
  }

  /** The piece so far itself: the next record is written over it. A copy of each would be as much garbage as there is state. */
  lend(): Uint8Array {
    const piece = this.#bytes.written
    this.#bytes.begin()
    this.#names = new Map()
    return piece
  }

  byte(value: number): void {
    this.#bytes.byte(value)
  }

  flag(value: boolean): void {
    this.#bytes.byte(value ? 1 : 0)
  }

  /** From 0 to 2^53 - 1. */
  whole(value: number): void {
    this.#bytes.varint(value)
  }

  signed(value: number): void {
    this.#bytes.signedVarint(value)
  }

  float(value: number): void {
    this.#bytes.float64(value)
  }

  text(value: string): void {
    writeText(this.#bytes, value)
  }

  /** A text that is likely to come again. */
  name(value: string): void {
    writeName(this.#bytes, value, this.#names)
  }

  optional<T>(value: T | null, write: (value: T) => void): void {
    this.flag(value !== null)
    if (value !== null) write(value)
  }

  list<T>(values: readonly T[], write: (value: T) => void): void {
    this.whole(values.length)
    for (const value of values) write(value)
  }
}

/** Reads what a `RecordWriter` wrote, in the order of writing. @throws RangeError if the bytes are no such thing. */
export class RecordReader {
  readonly #bytes: ByteReader
  readonly #names: string[] = []

  constructor(piece: Uint8Array) {
    this.#bytes = new ByteReader(piece)
  }

  get isAtEnd(): boolean {
    return this.#bytes.isAtEnd
  }

  byte(): number {
    return this.#bytes.byte()
  }

  flag(): boolean {
    return this.#bytes.byte() !== 0
  }

  whole(): number {
    return this.#bytes.varint()
  }

  signed(): number {
    return this.#bytes.signedVarint()
  }

  float(): number {
    return this.#bytes.float64()
  }

  text(): string {
    return readText(this.#bytes)
  }

  name(): string {
    return readName(this.#bytes, this.#names)
  }

  optional<T>(read: () => T): T | null {
    return this.flag() ? read() : null
  }

  list<T>(read: () => T): T[] {
    return Array.from({ length: this.whole() }, read)
  }
}

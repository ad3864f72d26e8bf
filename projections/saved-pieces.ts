import { ByteReader, ByteWriter } from '../src/bytes/bytes.ts'
import { readName, readText, type WrittenTexts, writeName, writeText } from '../src/bytes/packed-text.ts'
import { checkpointPieceBytes } from '../src/limits.ts'
import { SeededMap } from '../src/seeded-map.ts'

/**
 * The first byte of an entry in a checkpoint says the kind of the entry. Each projection writes and reads the rest.
 * Raise `savedFormat` with every change of an entry, so that no node misreads an old checkpoint.
 */
export const entryKinds = {
  position: 1,
  cellar: 2,
  key: 3,
  operator: 4,
  setup: 5,
  stream: 6,
} as const

/** A node ignores a checkpoint in another format, and folds the log from its beginning. */
export const savedFormat = 7

/** Writes the entries of a checkpoint into pieces of bytes. Each piece can be decoded without the others. */
export class PieceWriter {
  readonly #bytes = new ByteWriter()
  readonly #pieceBytes: number
  /**
   * The names of the current piece with their numbers. If a name occurs again in the piece, only its number is written.
   */
  #names: WrittenTexts = new SeededMap()

  constructor(pieceBytes: number = checkpointPieceBytes) {
    this.#pieceBytes = pieceBytes
    this.#bytes.begin()
  }

  get isEmpty(): boolean {
    return this.#bytes.length === 0
  }

  /** Pieces are small, because the event loop is blocked while a piece is encoded. */
  get isFull(): boolean {
    return this.#bytes.length >= this.#pieceBytes
  }

  cut(): Uint8Array {
    return this.lend().slice()
  }

  /**
   * Returns the piece without copying it, so the caller must use the piece before the next entry overwrites it. Copies
   * would create as many bytes of garbage as the whole state has.
   */
  lend(): Uint8Array {
    const piece = this.#bytes.written
    this.#bytes.begin()
    this.#names = new SeededMap()
    return piece
  }

  byte(value: number): void {
    this.#bytes.byte(value)
  }

  flag(value: boolean): void {
    this.#bytes.byte(value ? 1 : 0)
  }

  /** `value` is from 0 to 2^53 - 1. */
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

/** Reads the entries of one piece. The methods throw a RangeError for bytes that no `PieceWriter` can have written. */
export class PieceReader {
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

/**
 * `&` and `>>` are fast, but use only the lowest 32 bits, so a large number is written in two parts. `%` would take ten
 * times as long, because for large numbers it calls the C library.
 */
const lowBytes = 4
const lowWeight = 2 ** 28

/** Up to this length, a loop is faster than `set`, which is a call of the engine. Most names are short. */
const shortBytesMax = 32

/** One buffer for all rows, so that a row needs no new memory. Only a row that is handed over takes the buffer with it. */
export class ByteWriter {
  #bytes: Uint8Array = new Uint8Array(4_096)
  #view = new DataView(this.#bytes.buffer)
  #length = 0

  /** Drops an unfinished row. */
  begin(): void {
    this.#length = 0
  }

  get length(): number {
    return this.#length
  }

  /** No copy: the next row overwrites these bytes. */
  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length)
  }

  /** No copy: the buffer then belongs to the caller, and the writer uses `next`. */
  handOver(next: Uint8Array): Uint8Array {
    const { written } = this
    this.#bytes = next
    this.#view = new DataView(next.buffer)
    this.#length = 0
    return written
  }

  byte(value: number): void {
    this.#need(1)
    this.#bytes[this.#length++] = value
  }

  /** From 0 to 2^53 - 1. Seven bits a byte, the lowest first. */
  varint(value: number): void {
    this.#need(8)
    if (value < 128) this.#bytes[this.#length++] = value
    else this.#longVarint(value)
  }

  /** From -2^52 to 2^52 - 1. Negative numbers are odd and others even, so that a small negative number is short too. */
  signedVarint(value: number): void {
    this.varint(value < 0 ? -2 * value - 1 : 2 * value)
  }

  float64(value: number): void {
    this.#need(8)
    this.#view.setFloat64(this.#length, value, true)
    this.#length += 8
  }

  bytes(bytes: Uint8Array): void {
    const { length } = bytes
    this.#need(length)
    if (length > shortBytesMax) this.#bytes.set(bytes, this.#length)
    else for (let index = 0; index < length; index += 1) this.#bytes[this.#length + index] = bytes[index] ?? 0
    this.#length += length
  }

  /** Returns false and writes nothing if a character is not ASCII. */
  ascii(text: string): boolean {
    this.#need(text.length)
    const bytes = this.#bytes
    const begin = this.#length
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index)
      if (code > 127) return false
      bytes[begin + index] = code
    }
    this.#length = begin + text.length
    return true
  }

  backTo(length: number): void {
    this.#length = length
  }

  /** Apart, because the engine inlines `varint` only while it is short. */
  #longVarint(value: number): void {
    const high = (value / lowWeight) | 0
    let rest = (value - high * lowWeight) | 0
    if (high > 0) {
      for (let written = 0; written < lowBytes; written += 1) {
        this.#bytes[this.#length++] = (rest & 127) | 128
        rest >>= 7
      }
      rest = high
    }
    while (rest > 127) {
      this.#bytes[this.#length++] = (rest & 127) | 128
      rest >>= 7
    }
    this.#bytes[this.#length++] = rest
  }

  #need(count: number): void {
    if (this.#length + count <= this.#bytes.length) return
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + count))
    grown.set(this.#bytes)
    this.#bytes = grown
    this.#view = new DataView(grown.buffer)
  }
}

/** A view of the bytes would take most of the time of a row with one reading. */
const float64Bytes = new Uint8Array(8)
const float64View = new DataView(float64Bytes.buffer)

/** @throws RangeError if the bytes end before a value is complete, or if a number has more than 8 bytes */
export class ByteReader {
  readonly bytes: Uint8Array
  at = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.at === this.bytes.length
  }

  byte(): number {
    const byte = this.bytes[this.at]
    if (byte === undefined) throw new RangeError('it ends too early')
    this.at += 1
    return byte
  }

  varint(): number {
    let value = 0
    for (let weight = 1; weight <= 2 ** 49; weight *= 128) {
      const byte = this.byte()
      value += (byte & 127) * weight
      if (byte < 128) return value
    }
    throw new RangeError('a number in it is too long')
  }

  signedVarint(): number {
    const value = this.varint()
    const half = Math.floor(value / 2)
    return value === 2 * half ? half : -half - 1
  }

  float64(): number {
    const from = this.skip(8)
    for (let index = 0; index < 8; index += 1) float64Bytes[index] = this.bytes[from + index] ?? 0
    return float64View.getFloat64(0, true)
  }

  /** Returns where the skipped bytes begin. */
  skip(count: number): number {
    const from = this.at
    if (from + count > this.bytes.length) throw new RangeError('it ends too early')
    this.at = from + count
    return from
  }
}

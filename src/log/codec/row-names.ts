import type { ByteWriter } from '../../bytes/bytes.ts'
import { type WrittenTexts, writeName, writeNumber, writeUtf8 } from '../../bytes/packed-text.ts'
import type { Name } from '../../domain/reading/columns.ts'

let rows = 0

/**
 * The names that a packed row already contains. A `Name` remembers its number in the row that was written last, so most names of a
 * batch need no search. Two `Name`s can have one text, so a text is searched before it is written.
 */
export class RowNames {
  readonly #writer: ByteWriter
  readonly #written: WrittenTexts = new Map()
  readonly #row: number

  constructor(writer: ByteWriter) {
    this.#writer = writer
    rows += 1
    this.#row = rows
  }

  write(name: string): void {
    writeName(this.#writer, name, this.#written)
  }

  writeShared(name: Name): void {
    if (name.packedIn === this.#row) {
      writeNumber(this.#writer, name.packedAs)
      return
    }
    const known = this.#written.get(name.text)
    name.packedIn = this.#row
    name.packedAs = known ?? this.#written.size
    if (known !== undefined) {
      writeNumber(this.#writer, known)
      return
    }
    this.#written.set(name.text, name.packedAs)
    writeUtf8(this.#writer, name.utf8)
  }
}

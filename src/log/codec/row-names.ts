import type { ByteWriter } from '../../bytes/bytes.ts'
import { type WrittenTexts, writeName, writeNumber, writeUtf8 } from '../../bytes/packed-text.ts'
import type { Name } from '../../domain/reading/columns.ts'
import { SeededMap } from '../../seeded-map.ts'

let rows = 0

/**
 * A `Name` remembers its number in the last row, so most names need no search. Two `Name`s can have one text, so a new one
 * is searched by its text, unless all are of one `NameCache`, whose texts differ.
 */
export class RowNames {
  readonly #writer: ByteWriter
  readonly #row: number
  /** In the order of their numbers, while `#written` is `null`. */
  readonly #cached: Name[] = []
  /** `null` while all names of the row are in one cache. */
  #written: WrittenTexts | null = null

  constructor(writer: ByteWriter) {
    this.#writer = writer
    rows += 1
    this.#row = rows
  }

  write(name: string): void {
    writeName(this.#writer, name, this.#searchable())
  }

  writeShared(name: Name): void {
    if (name.packedIn === this.#row) {
      writeNumber(this.#writer, name.packedAs)
      return
    }
    name.packedIn = this.#row
    if (this.#written !== null || !this.#isInCache(name)) {
      this.#writeSearched(name, this.#searchable())
      return
    }
    name.packedAs = this.#cached.length
    this.#cached.push(name)
    writeUtf8(this.#writer, name.utf8)
  }

  #isInCache(name: Name): boolean {
    return name.cachedIn !== 0 && name.cachedIn === (this.#cached[0] ?? name).cachedIn
  }

  #writeSearched(name: Name, written: WrittenTexts): void {
    const known = written.get(name.text)
    name.packedAs = known ?? written.size
    if (known !== undefined) {
      writeNumber(this.#writer, known)
      return
    }
    written.set(name.text, name.packedAs)
    writeUtf8(this.#writer, name.utf8)
  }

  #searchable(): WrittenTexts {
    if (this.#written !== null) return this.#written
    this.#written = new SeededMap()
    for (const [number, { text }] of this.#cached.entries()) this.#written.set(text, number)
    return this.#written
  }
}

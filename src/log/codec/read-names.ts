import type { ByteReader } from '../../bytes/bytes.ts'
import { decodeText, kinds, readHeader } from '../../bytes/packed-text.ts'
import { Name } from '../../domain/reading/columns.ts'
import { hashStep, type NameCache } from '../../domain/reading/name-cache.ts'

/** Written by `RowNames`. Equal names are usually one `Name`, even in different rows. */
export class ReadNames {
  readonly #cache: NameCache
  /** Behind `#count`: of earlier rows. */
  readonly #seen: Name[] = []
  #count = 0

  constructor(cache: NameCache) {
    this.#cache = cache
  }

  beginRow(): void {
    this.#count = 0
  }

  /** @throws RangeError if the bytes are not a packed name */
  read(reader: ByteReader): Name {
    const { kind, from, length } = readHeader(reader)
    if (kind === kinds.seenBefore) {
      const name = this.#seen[length]
      if (length >= this.#count || name === undefined) throw new RangeError('a name in it refers to no earlier name')
      return name
    }
    const name = this.#named(reader.bytes, { kind, from, length })
    this.#seen[this.#count] = name
    this.#count += 1
    return name
  }

  #named(bytes: Uint8Array, { kind, from, length }: ReturnType<typeof readHeader>): Name {
    const end = from + length
    if (kind === kinds.utf8) {
      let hash = 0
      for (let at = from; at < end; at += 1) hash = hashStep(hash, bytes[at] ?? 0)
      const name = this.#cache.find(bytes, from, end, hash)
      if (name !== null) return name
    }
    // Invalid today: an earlier version can have had other rules.
    return new Name(decodeText(bytes.subarray(from, end), kind))
  }
}

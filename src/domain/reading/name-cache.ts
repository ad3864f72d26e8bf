import { nameFault } from '../text.ts'
import { Name } from './columns.ts'

/** The cache has 2 to this power sets, with `nameCacheWays` names in each. */
const nameCacheSetBits = 12
/** With more names in a set, a search takes longer. With fewer, names in use replace each other. All take at most 20 MB. */
export const nameCacheWays = 4

let caches = 0

/**
 * docs/decisions/029-batches-are-scanned.md. A name is decoded and checked only when it is first met. Memory and the time
 * of a search are bounded: names with equal hashes only replace each other.
 */
export class NameCache {
  readonly #number: number
  readonly #names: (Name | undefined)[]
  readonly #hashes: Int32Array
  /** At the place of a name: the place of the name that came after it last time (`follow`). */
  readonly #next: Int32Array
  /** For each set: which of its names is the oldest, counted from the set's first place. */
  readonly #oldest: Uint8Array
  readonly #unusedBits: number

  /** @param setBits at least 1 */
  constructor(setBits: number = nameCacheSetBits) {
    const sets = 2 ** setBits
    this.#names = new Array<Name | undefined>(sets * nameCacheWays).fill(undefined)
    this.#hashes = new Int32Array(sets * nameCacheWays)
    this.#next = new Int32Array(sets * nameCacheWays)
    this.#oldest = new Uint8Array(sets)
    this.#unusedBits = 32 - setBits
    caches += 1
    this.#number = caches
  }

  /**
   * `null` if the name is invalid. `hash` is 0 after `hashStep` for each byte. The caller computes it, because the loop
   * that finds the end of the name must look at each byte anyway.
   */
  find(bytes: Uint8Array, from: number, end: number, hash: number): Name | null {
    const first = this.#setOf(hash) * nameCacheWays
    for (let place = first; place < first + nameCacheWays; place += 1) {
      if (this.#hashes[place] !== hash) continue
      const name = this.#names[place]
      if (name !== undefined && areEqual(name.utf8, bytes, from, end)) return name
    }
    return this.#judge(bytes, from, end, hash)
  }

  /**
   * Tries the name that came after `before` last time. Devices send names in the same order again and again, and a
   * comparison takes less time than a hash and a search.
   */
  findNext(bytes: Uint8Array, from: number, before: Name): Name | null {
    const name = this.#names[this.#next[before.place] ?? 0]
    if (name === undefined || !name.isPlain) return null
    const { utf8 } = name
    const end = from + utf8.length
    return bytes[end] === quotationMark && areEqual(utf8, bytes, from, end) ? name : null
  }

  follow(before: Name, name: Name): void {
    this.#next[before.place] = name.place
  }

  /** The caller has found the text valid. */
  named(text: string): Name {
    let hash = 0
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at)
      if (code > 0x7e) return this.#namedInUtf8(text)
      hash = hashStep(hash, code)
    }
    const first = this.#setOf(hash) * nameCacheWays
    for (let place = first; place < first + nameCacheWays; place += 1) {
      const name = this.#names[place]
      if (name?.text === text) return name
    }
    return this.#keep(new Name(text), hash)
  }

  #namedInUtf8(text: string): Name {
    const utf8 = Buffer.from(text)
    let hash = 0
    for (const byte of utf8) hash = hashStep(hash, byte)
    return this.find(utf8, 0, utf8.length, hash) ?? new Name(text)
  }

  #judge(bytes: Uint8Array, from: number, end: number, hash: number): Name | null {
    // A copy: a view would keep the whole body in memory.
    const utf8 = Uint8Array.prototype.slice.call(bytes, from, end)
    const text = textOrNull(utf8)
    if (text === null || nameFault(text) !== null) return null
    return this.#keep(new Name(text, utf8), hash)
  }

  #keep(name: Name, hash: number): Name {
    const set = this.#setOf(hash)
    const way = this.#oldest[set] ?? 0
    this.#oldest[set] = way + 1 === nameCacheWays ? 0 : way + 1
    const place = set * nameCacheWays + way
    const replaced = this.#names[place]
    if (replaced !== undefined) replaced.cachedIn = 0
    name.cachedIn = this.#number
    name.place = place
    this.#names[place] = name
    this.#hashes[place] = hash
    return name
  }

  /** Multiplies first: only the lowest bits of `hash` depend on the last bytes of the name. */
  #setOf(hash: number): number {
    return Math.imul(hash, 0x9e3779b1) >>> this.#unusedBits
  }
}

const quotationMark = 0x22

/** Multiplying would take twice as long. */
export const hashStep = (hash: number, byte: number): number => ((hash << 5) - hash + byte) | 0

const areEqual = (name: Uint8Array, bytes: Uint8Array, from: number, end: number): boolean => {
  const { length } = name
  if (length !== end - from) return false
  for (let at = 0; at < length; at += 1) if (name[at] !== bytes[from + at]) return false
  return true
}

/** A byte order mark stays, as in the name of a body that is decoded as a whole. */
const utf8Text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const textOrNull = (utf8: Uint8Array): string | null => {
  try {
    return utf8Text.decode(utf8)
  } catch {
    return null
  }
}

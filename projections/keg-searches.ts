import { kegsFoundRememberedMax, kegsSearchedPerPiece } from '../src/limits.ts'
import type { Keg } from './keg.ts'

/**
 * A search of 10,000 names takes 20 ms, and a page searches twice a second. So results are remembered until a keg is
 * added or removed. A result is a list of indexes in the list of kegs, at most 20 KB.
 */
export class KegSearches {
  #kegs: readonly Keg[] = []
  /** Maps the words of a search to its result. The least recently used result is first, and is dropped first. */
  readonly #results = new Map<string, Uint16Array>()
  #remembered = 0

  #recall(kegs: readonly Keg[], name: string): Uint16Array | null {
    if (kegs !== this.#kegs) return null
    const known = this.#results.get(name)
    if (known === undefined) return null
    this.#results.delete(name)
    this.#results.set(name, known)
    return known
  }

  *search(kegs: readonly Keg[], words: readonly string[]): Generator<void, readonly Keg[]> {
    const name = words.toSorted().join(' ')
    const known = this.#recall(kegs, name)
    if (known !== null) return at(kegs, known)
    const indexes: number[] = []
    let [rack, rackText] = ['', '']
    for (const [index, keg] of kegs.entries()) {
      if (index > 0 && index % kegsSearchedPerPiece === 0) yield
      if (keg.rack !== rack) [rack, rackText] = [keg.rack, keg.rack.toLowerCase()]
      const kegText = keg.keg.toLowerCase()
      if (words.every((word) => rackText.includes(word) || kegText.includes(word))) indexes.push(index)
    }
    const found = Uint16Array.from(indexes)
    this.#remember(kegs, name, found)
    return at(kegs, found)
  }

  #remember(kegs: readonly Keg[], name: string, found: Uint16Array): void {
    if (kegs !== this.#kegs) {
      this.#kegs = kegs
      this.#results.clear()
      this.#remembered = 0
    }
    this.#remembered += sizeOf(found) - sizeOf(this.#results.get(name))
    this.#results.set(name, found)
    for (const [oldest, indexes] of this.#results) {
      if (this.#remembered <= kegsFoundRememberedMax) return
      this.#results.delete(oldest)
      this.#remembered -= sizeOf(indexes)
    }
  }
}

/**
 * Even an empty result takes as much memory as 128 indexes. So every result counts as 128 kegs more towards
 * `kegsFoundRememberedMax`.
 */
const emptyResultKegs = 128

const sizeOf = (found: Uint16Array | undefined): number => (found === undefined ? 0 : found.length + emptyResultKegs)

const at = (kegs: readonly Keg[], indexes: Uint16Array): readonly Keg[] => {
  const found: Keg[] = []
  for (const index of indexes) {
    const keg = kegs[index]
    if (keg !== undefined) found.push(keg)
  }
  return found
}

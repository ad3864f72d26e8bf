import { kegsFoundRememberedMax, kegsSearchedPerPiece } from '../src/limits.ts'
import type { Keg } from './keg.ts'

/**
 * Searches among the kegs of one cellar. A search of 10,000 names takes 20 ms, and a page that shows it is made again twice a
 * second. So results are remembered until a keg comes or goes. A result holds places in the list that was searched: 20 KB at
 * most, and no forgotten keg stays in memory.
 */
export class KegSearches {
  #kegs: readonly Keg[] = []
  /** By words. The one that was asked for longest ago is the first. */
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

  /** Kegs in whose names of rack and keg every word occurs, in any case. The words are lower case, without white space. */
  *search(kegs: readonly Keg[], words: readonly string[]): Generator<void, readonly Keg[]> {
    // The same words in another order have the same result. No word has a space.
    const name = words.toSorted().join(' ')
    const known = this.#recall(kegs, name)
    if (known !== null) return at(kegs, known)
    const places: number[] = []
    let [rack, rackText] = ['', '']
    for (const [place, keg] of kegs.entries()) {
      if (place > 0 && place % kegsSearchedPerPiece === 0) yield
      if (keg.rack !== rack) [rack, rackText] = [keg.rack, keg.rack.toLowerCase()]
      const kegText = keg.keg.toLowerCase()
      if (words.every((word) => rackText.includes(word) || kegText.includes(word))) places.push(place)
    }
    const found = Uint16Array.from(places)
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
    for (const [oldest, places] of this.#results) {
      if (this.#remembered <= kegsFoundRememberedMax) return
      this.#results.delete(oldest)
      this.#remembered -= sizeOf(places)
    }
  }
}

/** An empty result takes memory too: about as much as this many places. */
const emptyResultKegs = 128

const sizeOf = (found: Uint16Array | undefined): number => (found === undefined ? 0 : found.length + emptyResultKegs)

const at = (kegs: readonly Keg[], places: Uint16Array): readonly Keg[] => {
  const found: Keg[] = []
  for (const place of places) {
    const keg = kegs[place]
    if (keg !== undefined) found.push(keg)
  }
  return found
}

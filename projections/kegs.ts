import { orderKey } from '../src/domain/search/order-key.ts'
import { kegsOrderedPerPiece, kegsPerCellarMax } from '../src/limits.ts'
import { SeededMap } from '../src/seeded-map.ts'
import { Keg } from './keg.ts'
import type { KegMemory } from './keg-memory.ts'
import type { KegSaving } from './keg-saving.ts'
import { KegSearches } from './keg-searches.ts'
import type { FoundKegs, KegLatest, KegName } from './queries.ts'
import { Rack } from './rack.ts'

export type SharedByKegs = { readonly saving: KegSaving; readonly memory: KegMemory }

/**
 * The kegs of one cellar, at most `kegsPerCellarMax`, in a linked list in order of last use. A device can send a new
 * name with each reading. So the least recently used kegs are removed from memory.
 */
export class Kegs {
  readonly #cellar: { readonly name: string; readonly number: number }
  readonly #saving: KegSaving
  readonly #memory: KegMemory
  readonly #racks = new SeededMap<Rack>()
  #count = 0
  #oldest: Keg | null = null
  #newest: Keg | null = null
  /**
   * Many devices send their kegs in the same order each time. So this is the keg that followed the newest keg the last time.
   * If its names are the next names, no map is searched.
   */
  #expected: Keg | null = null
  /** The next keg that the running checkpoint saves; `null` if none is left. */
  #nextUnsaved: Keg | null = null
  /**
   * All kegs in order of name; `null` until the first search. `#unordered` holds kegs that are not in this list yet.
   * `#forgotten` holds removed kegs that are still in this list.
   */
  #ordered: readonly Keg[] | null = null
  /** The key of each keg in `#ordered`. A field of each keg would take memory in cellars at which nobody looks. */
  readonly #orderKeys = new Map<Keg, string>()
  readonly #unordered = new Set<Keg>()
  readonly #forgotten = new Set<Keg>()
  readonly #searches = new KegSearches()

  constructor(cellar: { readonly name: string; readonly number: number }, shared: SharedByKegs) {
    this.#cellar = cellar
    this.#saving = shared.saving
    this.#memory = shared.memory
  }

  /**
   * Finds or creates the keg and marks it as the last used. The caller can then change the keg, because a running
   * checkpoint already contains the keg as it was before.
   */
  touch(rack: string, name: string, position: number): Keg {
    const known = this.#find(rack, name)
    const keg = known ?? this.#make(new Keg(rack, name, this.#memory))
    if (keg.savedIn !== this.#saving.checkpoint) this.#saving.saveFirst(this.#cellar.number, keg)
    keg.usedPosition = position
    if (keg === this.#newest) return keg
    this.#expected = keg.newer
    if (known !== undefined) this.#unlink(known)
    this.#linkNewest(keg)
    if (this.#count > kegsPerCellarMax && this.#oldest !== null) this.#forget(this.#oldest)
    return keg
  }

  forgetBefore(keptFromMs: number): void {
    while (this.#oldest !== null && this.#oldest.acceptedAt < keptFromMs) this.#forget(this.#oldest)
  }

  *find(words: readonly string[], keptFromMs: number): Generator<void, FoundKegs> {
    const ordered = yield* this.#order()
    const all = ordered.filter((keg) => keg.hasLatest(keptFromMs))
    if (words.length === 0) return { found: all, all: all.length }
    const found = yield* this.#searches.search(ordered, words)
    return { found: found.filter((keg) => keg.hasLatest(keptFromMs)), all: all.length }
  }

  show({ rack, keg }: KegName, keptFromMs: number): KegLatest | null {
    return this.#racks.get(rack)?.get(keg)?.show(this.#cellar.name, keptFromMs) ?? null
  }

  /**
   * Yields the kegs that the running checkpoint lacks. The caller must save each keg before asking for the next. A keg
   * that changes meanwhile is saved first and moves to the end of the list. So the loop ends at the first saved keg.
   */
  *unsaved(): Generator<Keg> {
    this.#nextUnsaved = this.#oldest
    while (this.#nextUnsaved !== null && this.#nextUnsaved.savedIn !== this.#saving.checkpoint) {
      const keg = this.#nextUnsaved
      this.#nextUnsaved = keg.newer
      yield keg
    }
  }

  restore(kegs: Keg[]): void {
    for (const keg of kegs.sort((a, b) => a.usedPosition - b.usedPosition)) this.#linkNewest(this.#make(keg))
  }

  /**
   * Ordering takes time, and pages need the ordered list twice a second. So only new kegs are sorted in, a few in
   * each step. Each step leaves the list in order, so several pages can use this generator at once.
   */
  *#order(): Generator<void, readonly Keg[]> {
    if (this.#ordered === null) {
      this.#ordered = []
      for (let keg = this.#oldest; keg !== null; keg = keg.newer) this.#unordered.add(keg)
    }
    // The loop has a limit. Otherwise new kegs that arrive between two steps could keep it running for ever.
    for (let piece = 0; piece < kegsPerCellarMax / kegsOrderedPerPiece && this.#unordered.size > 0; piece += 1) {
      this.#orderSome(this.#ordered)
      if (this.#unordered.size > 0) yield
    }
    if (this.#forgotten.size > 0) this.#orderSome(this.#ordered)
    return this.#ordered
  }

  #orderSome(ordered: readonly Keg[]): void {
    const kept = this.#forgotten.size === 0 ? ordered : ordered.filter((keg) => !this.#forgotten.has(keg))
    for (const keg of this.#forgotten) this.#orderKeys.delete(keg)
    this.#forgotten.clear()
    const added: Keg[] = []
    for (const keg of this.#unordered) {
      if (added.length === kegsOrderedPerPiece) break
      this.#unordered.delete(keg)
      this.#orderKeys.set(keg, `${orderKey(keg.rack)}\0${orderKey(keg.keg)}`)
      added.push(keg)
    }
    const isBefore: IsBefore = (a, b) => (this.#orderKeys.get(a) ?? '') < (this.#orderKeys.get(b) ?? '')
    added.sort((a, b) => (isBefore(a, b) ? -1 : 1))
    this.#ordered = merged(kept, added, isBefore)
  }

  #find(rack: string, name: string): Keg | undefined {
    const expected = this.#expected
    if (expected !== null && expected.keg === name && expected.rack === rack) return expected
    return this.#racks.get(rack)?.get(name)
  }

  #make(keg: Keg): Keg {
    if (this.#ordered !== null) this.#unordered.add(keg)
    keg.savedIn = this.#saving.checkpoint
    const rack = this.#racks.get(keg.rack) ?? new Rack()
    if (rack.isEmpty) this.#racks.set(keg.rack, rack)
    rack.add(keg)
    this.#count += 1
    return keg
  }

  #forget(keg: Keg): void {
    if (this.#expected === keg) this.#expected = null
    if (keg.savedIn !== this.#saving.checkpoint) this.#saving.saveFirst(this.#cellar.number, keg)
    this.#unlink(keg)
    if (this.#ordered !== null && !this.#unordered.delete(keg)) this.#forgotten.add(keg)
    const rack = this.#racks.get(keg.rack)
    rack?.delete(keg)
    if (rack?.isEmpty) this.#racks.delete(keg.rack)
    this.#count -= 1
    this.#memory.release(keg.row)
  }

  #linkNewest(keg: Keg): void {
    keg.older = this.#newest
    if (this.#newest === null) this.#oldest = keg
    else this.#newest.newer = keg
    this.#newest = keg
  }

  #unlink(keg: Keg): void {
    if (this.#nextUnsaved === keg) this.#nextUnsaved = keg.newer
    if (keg.older === null) this.#oldest = keg.newer
    else keg.older.newer = keg.newer
    if (keg.newer === null) this.#newest = keg.older
    else keg.newer.older = keg.older
    keg.older = null
    keg.newer = null
  }
}

type IsBefore = (a: Keg, b: Keg) => boolean

/**
 * Merges two sorted lists. Finds the place of each added keg by binary search, because usually a few kegs are added to
 * many.
 */
const merged = (kept: readonly Keg[], added: readonly Keg[], isBefore: IsBefore): readonly Keg[] => {
  const all: Keg[] = []
  let from = 0
  for (const keg of added) {
    const to = indexOf(keg, kept, { from, isBefore })
    for (const before of kept.slice(from, to)) all.push(before)
    all.push(keg)
    from = to
  }
  return all.concat(kept.slice(from))
}

type Search = { readonly from: number; readonly isBefore: IsBefore }

const indexOf = (keg: Keg, kegs: readonly Keg[], { from, isBefore }: Search): number => {
  let [low, high] = [from, kegs.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    const other = kegs[middle]
    if (other !== undefined && isBefore(other, keg)) low = middle + 1
    else high = middle
  }
  return low
}

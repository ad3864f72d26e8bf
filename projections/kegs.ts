import { kegsPerCellarMax } from '../src/limits.ts'
import { Keg } from './keg.ts'
import type { KegMemory } from './keg-memory.ts'
import type { KegSaving } from './keg-saving.ts'
import type { KegLatest, KegName } from './queries.ts'
import { Rack } from './rack.ts'

/** What the kegs of all cellars have in common. */
export type SharedByKegs = { readonly saving: KegSaving; readonly memory: KegMemory }

/**
 * The kegs of one cellar, at most `kegsPerCellarMax`: a device that makes up a name for each reading pushes out the ones
 * that were used longest ago, and the memory stays as it is. They form a list in order of use, so that none is searched.
 */
export class Kegs {
  readonly #cellar: { readonly name: string; readonly number: number }
  readonly #saving: KegSaving
  readonly #memory: KegMemory
  readonly #racks = new Map<string, Rack>()
  #count = 0
  #oldest: Keg | null = null
  #newest: Keg | null = null
  /** Where a checkpoint goes on. */
  #nextUnsaved: Keg | null = null
  /** By name, as of so many changes; empty as long as nobody has asked. */
  #ordered: readonly Keg[] = []
  #orderedAt = 0
  /** How often a keg was made or forgotten. */
  #changes = 0

  constructor(cellar: { readonly name: string; readonly number: number }, shared: SharedByKegs) {
    this.#cellar = cellar
    this.#saving = shared.saving
    this.#memory = shared.memory
  }

  /** The keg of that name, made if there is none, as the one used last, and about to be changed. */
  touch(rack: string, name: string, position: number): Keg {
    const known = this.#racks.get(rack)?.get(name)
    const keg = known ?? this.#make(new Keg(rack, name, this.#memory))
    if (keg.savedIn !== this.#saving.checkpoint) this.#saving.saveFirst(this.#cellar.number, keg)
    keg.usedPosition = position
    if (keg === this.#newest) return keg
    if (known !== undefined) this.#unlink(known)
    this.#linkNewest(keg)
    if (this.#count > kegsPerCellarMax && this.#oldest !== null) this.#forget(this.#oldest)
    return keg
  }

  /** Lets go of those of which nothing was accepted at `keptFromMs` or later, as far as they were used longest ago. */
  forgetBefore(keptFromMs: number): void {
    while (this.#oldest !== null && this.#oldest.acceptedAt < keptFromMs) this.#forget(this.#oldest)
  }

  /** Those with anything to show that was accepted at `keptFromMs` or later, by rack, then keg. */
  names(keptFromMs: number): readonly KegName[] {
    this.#order()
    return this.#ordered.filter((keg) => keg.hasLatest(keptFromMs))
  }

  /** What of that keg was accepted at `keptFromMs` or later; `null` if there is nothing. */
  show({ rack, keg }: KegName, keptFromMs: number): KegLatest | null {
    return this.#racks.get(rack)?.get(keg)?.show(this.#cellar.name, keptFromMs) ?? null
  }

  /**
   * The kegs that the checkpoint under way does not have, in order of use, as long as each is saved before the next is
   * asked for. What changes meanwhile is saved by then and moves to the end, behind all that is not: the first that is
   * saved already is the end.
   */
  *unsaved(): Generator<Keg> {
    this.#nextUnsaved = this.#oldest
    while (this.#nextUnsaved !== null && this.#nextUnsaved.savedIn !== this.#saving.checkpoint) {
      const keg = this.#nextUnsaved
      this.#nextUnsaved = keg.newer
      yield keg
    }
  }

  /** Puts back kegs of a checkpoint, in any order. */
  restore(kegs: Keg[]): void {
    for (const keg of kegs.sort((a, b) => a.usedPosition - b.usedPosition)) this.#linkNewest(this.#make(keg))
  }

  /**
   * Names are compared by the rules of a language, and pages ask for all of them twice a second: so only those are that have
   * come since they were asked for last, and most of the time none has.
   */
  #order(): void {
    if (this.#orderedAt === this.#changes) return
    const added = new Set<Keg>()
    for (let keg = this.#oldest; keg !== null; keg = keg.newer) added.add(keg)
    const kept = this.#ordered.filter((keg) => added.delete(keg))
    this.#ordered = merged(kept, [...added].sort(byName))
    this.#orderedAt = this.#changes
  }

  #make(keg: Keg): Keg {
    this.#changes += 1
    keg.savedIn = this.#saving.checkpoint
    const rack = this.#racks.get(keg.rack) ?? new Rack()
    if (rack.isEmpty) this.#racks.set(keg.rack, rack)
    rack.add(keg)
    this.#count += 1
    return keg
  }

  #forget(keg: Keg): void {
    if (keg.savedIn !== this.#saving.checkpoint) this.#saving.saveFirst(this.#cellar.number, keg)
    this.#unlink(keg)
    this.#changes += 1
    const rack = this.#racks.get(keg.rack)
    rack?.delete(keg)
    if (rack?.isEmpty) this.#racks.delete(keg.rack)
    this.#count -= 1
    this.#memory.giveBack(keg.place)
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

const { compare } = new Intl.Collator('en', { numeric: true })

const byName = (a: KegName, b: KegName): number =>
  compare(a.rack, b.rack) || compare(a.keg, b.keg) || (a.rack + a.keg < b.rack + b.keg ? -1 : 1)

/** Both are in order. The place of each one added is found by halving, since it is mostly few that come into many. */
const merged = (kept: readonly Keg[], added: readonly Keg[]): readonly Keg[] => {
  const all: Keg[] = []
  let from = 0
  for (const keg of added) {
    const to = placeOf(keg, kept, from)
    for (const before of kept.slice(from, to)) all.push(before)
    all.push(keg)
    from = to
  }
  return all.concat(kept.slice(from))
}

/** Index of the first, not before `from`, that comes after `keg`. */
const placeOf = (keg: Keg, kegs: readonly Keg[], from: number): number => {
  let [low, high] = [from, kegs.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    const other = kegs[middle]
    if (other !== undefined && byName(other, keg) < 0) low = middle + 1
    else high = middle
  }
  return low
}

import { kegsPerCellarMax } from '../src/limits.ts'
import { Keg } from './keg.ts'
import type { KegLatest } from './queries.ts'

/**
 * The kegs of one cellar, at most `kegsPerCellarMax`: a device that makes up a name for each reading pushes out the ones
 * that were used longest ago, and the memory stays as it is. They form a list in order of use, so that none is searched.
 */
export class Kegs {
  readonly #racks = new Map<string, Map<string, Keg>>()
  #count = 0
  #oldest: Keg | null = null
  #newest: Keg | null = null

  /** The keg of that name, made if there is none, as the one used last. */
  touch(rack: string, name: string): Keg {
    const known = this.#racks.get(rack)?.get(name)
    if (known !== undefined && known === this.#newest) return known
    const keg = known ?? this.#make(rack, name)
    if (known !== undefined) this.#unlink(known)
    this.#linkNewest(keg)
    if (this.#count > kegsPerCellarMax && this.#oldest !== null) this.#forget(this.#oldest)
    return keg
  }

  /** By rack, then keg. */
  list(): readonly KegLatest[] {
    const shown: KegLatest[] = []
    for (let keg = this.#oldest; keg !== null; keg = keg.newer) {
      const one = keg.show()
      if (one !== null) shown.push(one)
    }
    return shown.sort(byName)
  }

  #make(rack: string, name: string): Keg {
    const keg = new Keg(rack, name)
    const kegs = this.#racks.get(rack)
    if (kegs === undefined) this.#racks.set(rack, new Map([[name, keg]]))
    else kegs.set(name, keg)
    this.#count += 1
    return keg
  }

  #forget(keg: Keg): void {
    this.#unlink(keg)
    const kegs = this.#racks.get(keg.rack)
    kegs?.delete(keg.keg)
    if (kegs?.size === 0) this.#racks.delete(keg.rack)
    this.#count -= 1
  }

  #linkNewest(keg: Keg): void {
    keg.older = this.#newest
    if (this.#newest === null) this.#oldest = keg
    else this.#newest.newer = keg
    this.#newest = keg
  }

  #unlink(keg: Keg): void {
    if (keg.older === null) this.#oldest = keg.newer
    else keg.older.newer = keg.newer
    if (keg.newer === null) this.#newest = keg.older
    else keg.newer.older = keg.older
    keg.older = null
    keg.newer = null
  }
}

const { compare } = new Intl.Collator('en', { numeric: true })

const byName = (a: KegLatest, b: KegLatest): number =>
  compare(a.rack, b.rack) || compare(a.keg, b.keg) || (a.rack + a.keg < b.rack + b.keg ? -1 : 1)

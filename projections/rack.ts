import { SeededMap } from '../src/seeded-map.ts'
import type { Keg } from './keg.ts'

/** A rack with more kegs than this number keeps its kegs in a map. */
const fewMax = 16

/**
 * The kegs of one rack, by name. Most racks have few kegs. For few kegs an array is as fast as a map, and takes 200
 * bytes instead of 1,800.
 */
export class Rack {
  readonly #few: Keg[] = []
  #many: SeededMap<Keg> | null = null

  get isEmpty(): boolean {
    return this.#few.length === 0 && (this.#many === null || this.#many.size === 0)
  }

  get(name: string): Keg | undefined {
    for (const keg of this.#few) if (keg.keg === name) return keg
    return this.#many?.get(name)
  }

  /** The rack must not contain a keg of that name already, because `add` does not check. */
  add(keg: Keg): void {
    if (this.#many === null && this.#few.length < fewMax) {
      this.#few.push(keg)
      return
    }
    this.#many ??= new SeededMap()
    for (const one of [...this.#few.splice(0), keg]) this.#many.set(one.keg, one)
  }

  delete(keg: Keg): void {
    const at = this.#few.indexOf(keg)
    if (at >= 0) this.#few.splice(at, 1)
    else this.#many?.delete(keg.keg)
  }
}

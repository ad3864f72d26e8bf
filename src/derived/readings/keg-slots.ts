import { seededHashOfPair } from '../../seeded-map.ts'
import { buckets, cellarNumber, type Keg, latestMs, nextOfHash, nextSeen } from './keg-numbers.ts'
import { levels, numbersPerBucket } from './levels.ts'

const numbersPerKeg = buckets + levels.length * numbersPerBucket
const slotsPerBlockBits = 10
const slotsPerBlock = 2 ** slotsPerBlockBits

export type KegOfCellar = { readonly cellar: number; readonly rack: string; readonly keg: string }

/** The numbers of a keg lie in blocks (`keg-numbers.ts`). Strangers choose the names, so the hash is a seeded one. */
export class KegSlots {
  readonly racks: string[] = []
  readonly kegs: string[] = []
  readonly keyIds: string[] = []
  /** `null` for the form `YYYY-MM-DDThh:mm:ssZ`. */
  readonly timestamps: (string | null)[] = []
  readonly #parts: Keg[] = []
  readonly #firstOfHash = new Map<number, number>()
  readonly #free: number[] = []

  get size(): number {
    return this.#parts.length - this.#free.length
  }

  /** @throws RangeError for a slot that was never taken */
  of(slot: number): Keg {
    const keg = this.#parts[slot]
    if (keg === undefined) throw new RangeError(`no keg has slot ${slot}`)
    return keg
  }

  holds(slot: number, { cellar, rack, keg }: KegOfCellar): boolean {
    const { numbers, from } = this.of(slot)
    return this.kegs[slot] === keg && this.racks[slot] === rack && numbers[from + cellarNumber] === cellar
  }

  find(named: KegOfCellar): number | null {
    let slot = this.#firstOfHash.get(seededHashOfPair(named.rack, named.keg)) ?? none
    while (slot !== none && !this.holds(slot, named)) slot = this.#next(slot)
    return slot === none ? null : slot
  }

  /** The keg must not be in memory already. */
  take(named: KegOfCellar): number {
    const slot = this.#free.pop() ?? this.#grow()
    const { numbers, from } = this.of(slot)
    numbers.fill(0, from, from + numbersPerKeg)
    numbers[from + cellarNumber] = named.cellar
    numbers[from + latestMs] = Number.NEGATIVE_INFINITY
    numbers[from + nextSeen] = slot
    const hash = seededHashOfPair(named.rack, named.keg)
    numbers[from + nextOfHash] = this.#firstOfHash.get(hash) ?? none
    this.#firstOfHash.set(hash, slot)
    this.racks[slot] = named.rack
    this.kegs[slot] = named.keg
    this.keyIds[slot] = ''
    this.timestamps[slot] = null
    return slot
  }

  release(slot: number): void {
    const hash = seededHashOfPair(this.racks[slot] ?? '', this.kegs[slot] ?? '')
    const after = this.#next(slot)
    const first = this.#firstOfHash.get(hash) ?? none
    if (first === slot) {
      if (after === none) this.#firstOfHash.delete(hash)
      else this.#firstOfHash.set(hash, after)
    } else {
      let before = first
      while (this.#next(before) !== slot) before = this.#next(before)
      const { numbers, from } = this.of(before)
      numbers[from + nextOfHash] = after
    }
    const { numbers, from } = this.of(slot)
    numbers[from + cellarNumber] = none
    this.#free.push(slot)
  }

  *ofCellar(cellar: number): Generator<number> {
    for (const [slot, { numbers, from }] of this.#parts.entries()) {
      if (numbers[from + cellarNumber] === cellar) yield slot
    }
  }

  forgetAll(): void {
    this.#parts.length = 0
    this.#free.length = 0
    this.#firstOfHash.clear()
    for (const texts of [this.racks, this.kegs, this.keyIds, this.timestamps]) texts.length = 0
  }

  #next(slot: number): number {
    const { numbers, from } = this.of(slot)
    return numbers[from + nextOfHash] ?? none
  }

  #grow(): number {
    const slot = this.#parts.length
    const last = this.#parts.at(-1)
    const isBlockFull = slot % slotsPerBlock === 0
    const numbers = last === undefined || isBlockFull ? new Float64Array(slotsPerBlock * numbersPerKeg) : last.numbers
    this.#parts.push({ numbers, from: (slot % slotsPerBlock) * numbersPerKeg })
    return slot
  }
}

const none = -1

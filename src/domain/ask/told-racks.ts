/**
 * Remembers which racks were told as seen with a key in this minute. So each pair of key and rack is usually written only once a
 * minute. A table of fixed size holds 62 bits of a hash for each pair of this minute. It also holds a hash of each list of racks
 * that a key has sent in a batch. An entry that finds no room replaces an older one, which is then told again. Telling twice does
 * no harm.
 */
import { toldListReadingsMin, toldRackSetBits, toldRackWays } from '../../limits.ts'
import type { Name, ReadingColumns } from '../reading/columns.ts'
import { hashText, mixed, textHash } from '../reading/text-hash.ts'

/** One key in one minute. `low` and `high` are 64 bits of a hash. `number` has 52 of these bits. */
export type KeyMinute = { readonly low: number; readonly high: number; readonly number: number }

type RackList = Pick<ReadingColumns, 'count' | 'racksLow' | 'racksHigh'>

let beginnings = 0

export class ToldRacks {
  readonly #highs: Int32Array
  readonly #lows: Uint16Array
  /** For each set, the place of its oldest entry, counted from the set's first place. */
  readonly #oldest: Uint8Array
  readonly #setMask: number
  /** Part of each hash, so that what another table has told, or this one before `clear`, does not count. */
  #beginning: number

  /** @param setBits the table has 2 to the power of this number of sets: at most 16 */
  constructor(setBits: number = toldRackSetBits) {
    const sets = 2 ** setBits
    this.#highs = new Int32Array(sets * toldRackWays)
    this.#lows = new Uint16Array(sets * toldRackWays)
    this.#oldest = new Uint8Array(sets)
    this.#setMask = sets - 1
    this.#beginning = newBeginning()
  }

  clear(): void {
    this.#beginning = newBeginning()
  }

  /** `minute` counts since 1970. */
  keyMinute(keyId: string, minute: number): KeyMinute {
    hashText(keyId)
    const low = mixed(textHash.low + Math.imul(minute, 0x9e3779b1) + this.#beginning)
    const high = mixed(textHash.high + Math.imul(minute, 0x85ebca77) - this.#beginning)
    return { low, high, number: (high >>> 0) * 2 ** 20 + (low >>> 12) }
  }

  /** Returns true if the rack was not told yet with this key in this minute. From then on, it counts as told. */
  isNew(rack: Name, { low, high, number }: KeyMinute): boolean {
    if (rack.toldIn === number) return false
    rack.toldIn = number
    return this.#tell(rack.hashLow ^ low, rack.hashHigh ^ high)
  }

  /**
   * Returns true if the caller must ask for each rack of the batch. Most devices send the same racks in the same order again and
   * again. Then one search for the whole list takes the place of one for each rack. Small batches are always new, so that their
   * lists take no room in the table.
   */
  isNewList({ count, racksLow, racksHigh }: RackList, { low, high }: KeyMinute): boolean {
    return count < toldListReadingsMin || this.#tell(mixed(racksLow ^ low), mixed(racksHigh ^ high))
  }

  /** Like `isNew`, for a rack that has no `Name`. */
  isNewText(rack: string, { low, high }: KeyMinute): boolean {
    hashText(rack)
    return this.#tell(textHash.low ^ low, textHash.high ^ high)
  }

  #tell(low: number, high: number): boolean {
    const set = low & this.#setMask
    const first = set * toldRackWays
    // The set has the lower bits of `low`.
    const lowRest = low >>> 16
    for (let place = first; place < first + toldRackWays; place += 1) {
      if (this.#highs[place] === high && this.#lows[place] === lowRest) return false
    }
    const oldest = this.#oldest[set] ?? 0
    this.#oldest[set] = oldest + 1 === toldRackWays ? 0 : oldest + 1
    this.#highs[first + oldest] = high
    this.#lows[first + oldest] = lowRest
    return true
  }
}

const newBeginning = (): number => {
  beginnings += 1
  return beginnings
}

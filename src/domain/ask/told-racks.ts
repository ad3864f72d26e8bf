/**
 * Remembers which racks were told as seen with a key in this minute. So each pair of key and rack is usually written only once a
 * minute. A table of fixed size holds 62 bits of a hash for each pair of this minute. A pair that finds no room
 * replaces an older one, which is then told again. Telling twice does no harm.
 */
import { toldRackSetBits, toldRackWays } from '../../limits.ts'
import type { Name } from '../reading/columns.ts'

/** One key in one minute. `low` and `high` are 64 bits of a hash. `number` has 52 of these bits. */
export type KeyMinute = { readonly low: number; readonly high: number; readonly number: number }

let beginnings = 0

export class ToldRacks {
  readonly #highs: Int32Array
  readonly #lows: Uint16Array
  /** For each set, the place of its oldest pair, counted from the set's first place. */
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
    const low = mixed(hash.low + Math.imul(minute, 0x9e3779b1) + this.#beginning)
    const high = mixed(hash.high + Math.imul(minute, 0x85ebca77) - this.#beginning)
    return { low, high, number: (high >>> 0) * 2 ** 20 + (low >>> 12) }
  }

  /** Returns true if the rack was not told yet with this key in this minute. From then on, it counts as told. */
  isNew(rack: Name, { low, high, number }: KeyMinute): boolean {
    if (rack.toldIn === number) return false
    rack.toldIn = number
    if (rack.hashLow === 0 && rack.hashHigh === 0) {
      hashText(rack.text)
      rack.hashLow = hash.low
      rack.hashHigh = hash.high
    }
    return this.#tell(rack.hashLow ^ low, rack.hashHigh ^ high)
  }

  /** Like `isNew`, for a rack that has no `Name`. */
  isNewText(rack: string, { low, high }: KeyMinute): boolean {
    hashText(rack)
    return this.#tell(hash.low ^ low, hash.high ^ high)
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

/** The result of the last `hashText`. An object for each hash would take most of the time. */
const hash = { low: 0, high: 0 }

/** Two hashes of 32 bits. `Bun.hash` returns a bigint, which is five times slower for a short text. */
const hashText = (text: string): void => {
  let low = 0x811c9dc5
  let high = 0x2545f491
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    low = Math.imul(low ^ code, 0x01000193)
    high = Math.imul(((high << 13) | (high >>> 19)) ^ code, 0x5bd1e995)
  }
  hash.low = mixed(low)
  hash.high = mixed(high)
}

/** Each bit of the result depends on all bits of `bits`. */
const mixed = (bits: number): number => {
  const once = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35)
  return twice ^ (twice >>> 16)
}

/**
 * For keys that strangers choose, such as the names of racks. JavaScript's hash of a text has no seed. So strangers can
 * make thousands of names of one hash, and a `Map` compares all of them at each look-up. A secret prefix does not help,
 * because such names have one hash behind every prefix. Here each character is multiplied by a random number of its place,
 * and the hash is the sum. So two names have one hash with a probability of at most 2^-17.
 */
export class SeededMap<Value> {
  readonly #entries = new Map<number, Entry<Value>>()
  readonly #hash: (key: string) => number
  #size = 0

  /** `hash` is for tests. */
  constructor(hash: (key: string) => number = seededHash) {
    this.#hash = hash
  }

  get size(): number {
    return this.#size
  }

  get(key: string): Value | undefined {
    return find(this.#entries.get(this.#hash(key)), key)?.value
  }

  set(key: string, value: Value): void {
    const hash = this.#hash(key)
    const first = this.#entries.get(hash)
    const known = find(first, key)
    if (known !== undefined) {
      known.value = value
      return
    }
    this.#entries.set(hash, { key, value, next: first })
    this.#size += 1
  }

  delete(key: string): void {
    const hash = this.#hash(key)
    const first = this.#entries.get(hash)
    if (find(first, key) === undefined) return
    const left = without(first, key)
    if (left === undefined) this.#entries.delete(hash)
    else this.#entries.set(hash, left)
    this.#size -= 1
  }
}

type Entry<Value> = { readonly key: string; value: Value; readonly next: Entry<Value> | undefined }

const find = <Value>(first: Entry<Value> | undefined, key: string): Entry<Value> | undefined => {
  let entry = first
  while (entry !== undefined && entry.key !== key) entry = entry.next
  return entry
}

const without = <Value>(first: Entry<Value> | undefined, key: string): Entry<Value> | undefined =>
  first === undefined || first.key === key ? first?.next : { ...first, next: without(first.next, key) }

/** A name has at most 256 UTF-16 units. A longer text would use the numbers again. */
const places = 256
const seeds = crypto.getRandomValues(new Int32Array(places))
const [lengthSeed = 0] = crypto.getRandomValues(new Int32Array(1))

export const seededHash = (text: string): number => {
  let sum = Math.imul(lengthSeed, text.length)
  for (let at = 0; at < text.length; at += 1) {
    sum = (sum + Math.imul(seeds[at % places] ?? 0, text.charCodeAt(at))) | 0
  }
  return sum
}

/** Odd, so that no bit of the first text is lost. */
const pairSeed = (crypto.getRandomValues(new Int32Array(1))[0] ?? 0) | 1

/** Such as a rack and a keg. */
export const seededHashOfPair = (first: string, second: string): number =>
  (Math.imul(seededHash(first), pairSeed) + seededHash(second)) | 0

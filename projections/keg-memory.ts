const kegsPerBlock = 256

/** Where a place's numbers begin in its block. */
export const firstOf = (place: number, numbersPerKeg: number): number => (place % kegsPerBlock) * numbersPerKeg

/** The numbers of 256 kegs, and the same bytes as whole numbers of two bytes, four in the place of each. */
export type KegBlock = { readonly numbers: Float64Array; readonly halfwords: Uint16Array }

/**
 * The numbers of all kegs, in large blocks beside the heap: 100,000 arrays of their own would take half as much again, and
 * the garbage collector would look at each.
 */
export class KegMemory {
  readonly #numbersPerKeg: number
  readonly #blocks: KegBlock[] = []
  /** Places that were given back. */
  readonly #free: number[] = []
  #next = 0

  constructor(numbersPerKeg: number) {
    this.#numbersPerKeg = numbersPerKeg
  }

  /** The number of a place that holds zeros. */
  take(): number {
    const place = this.#free.pop() ?? this.#next++
    this.#blocks[Math.floor(place / kegsPerBlock)] ??= this.#newBlock()
    const from = firstOf(place, this.#numbersPerKeg)
    this.blockOf(place).numbers.fill(0, from, from + this.#numbersPerKeg)
    return place
  }

  giveBack(place: number): void {
    this.#free.push(place)
  }

  /** What holds the place's numbers, from `firstOf` on. */
  blockOf(place: number): KegBlock {
    const block = this.#blocks[Math.floor(place / kegsPerBlock)]
    if (block === undefined) throw new Error(`Cannot find the numbers of keg ${place}: nobody has taken them`)
    return block
  }

  #newBlock(): KegBlock {
    const numbers = new Float64Array(kegsPerBlock * this.#numbersPerKeg)
    return { numbers, halfwords: new Uint16Array(numbers.buffer) }
  }
}

const kegsPerBlock = 256

/**
 * The numbers of all kegs, in large blocks beside the heap: 100,000 arrays of their own would take half as much again, and
 * the garbage collector would look at each.
 */
export class KegMemory {
  readonly #numbersPerKeg: number
  readonly #blocks: Float64Array[] = []
  /** The same blocks. */
  readonly #halfwords: Uint16Array[] = []
  /** Places that were given back. */
  readonly #free: number[] = []
  #next = 0

  constructor(numbersPerKeg: number) {
    this.#numbersPerKeg = numbersPerKeg
  }

  /** The number of a place that holds zeros. */
  take(): number {
    const place = this.#free.pop() ?? this.#next++
    const block = Math.floor(place / kegsPerBlock)
    this.#blocks[block] ??= new Float64Array(kegsPerBlock * this.#numbersPerKeg)
    this.#halfwords[block] ??= new Uint16Array(this.blockOf(place).buffer)
    const from = this.firstOf(place)
    this.blockOf(place).fill(0, from, from + this.#numbersPerKeg)
    return place
  }

  giveBack(place: number): void {
    this.#free.push(place)
  }

  /** What holds the place's numbers, from `firstOf` on. */
  blockOf(place: number): Float64Array {
    const block = this.#blocks[Math.floor(place / kegsPerBlock)]
    if (block === undefined) throw new Error(`Cannot find the numbers of keg ${place}: nobody has taken them`)
    return block
  }

  /** The same, as whole numbers of two bytes: four in the place of each. */
  halfwordsOf(place: number): Uint16Array {
    const halfwords = this.#halfwords[Math.floor(place / kegsPerBlock)]
    if (halfwords === undefined) throw new Error(`Cannot find the numbers of keg ${place}: nobody has taken them`)
    return halfwords
  }

  firstOf(place: number): number {
    return (place % kegsPerBlock) * this.#numbersPerKeg
  }
}

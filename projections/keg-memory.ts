const kegsPerBlock = 256

/** A block holds the rows of `kegsPerBlock` kegs. Returns the index of the row's first number in its block. */
export const firstOf = (row: number, numbersPerKeg: number): number => (row % kegsPerBlock) * numbersPerKeg

/**
 * Both arrays are views of the same bytes. `numbers` has 8 bytes for each number. Small numbers, such as the days on which
 * a keg's readings were accepted, need only 2 bytes each and are in `halfwords`.
 */
export type KegBlock = { readonly numbers: Float64Array; readonly halfwords: Uint16Array }

/**
 * Holds one row of numbers for each keg, in blocks outside the JavaScript heap. 100,000 small arrays would take 50 %
 * more memory, and the garbage collector would visit each array.
 */
export class KegMemory {
  readonly #numbersPerKeg: number
  readonly #blocks: KegBlock[] = []
  readonly #free: number[] = []
  #next = 0

  constructor(numbersPerKeg: number) {
    this.#numbersPerKeg = numbersPerKeg
  }

  /** Returns the number of a free row, filled with zeros. */
  take(): number {
    const row = this.#free.pop() ?? this.#next++
    this.#blocks[Math.floor(row / kegsPerBlock)] ??= this.#newBlock()
    const from = firstOf(row, this.#numbersPerKeg)
    this.blockOf(row).numbers.fill(0, from, from + this.#numbersPerKeg)
    return row
  }

  release(row: number): void {
    this.#free.push(row)
  }

  blockOf(row: number): KegBlock {
    const block = this.#blocks[Math.floor(row / kegsPerBlock)]
    if (block === undefined) throw new Error(`Cannot find row ${row} of the kegs: its block was never made`)
    return block
  }

  #newBlock(): KegBlock {
    const numbers = new Float64Array(kegsPerBlock * this.#numbersPerKeg)
    return { numbers, halfwords: new Uint16Array(numbers.buffer) }
  }
}

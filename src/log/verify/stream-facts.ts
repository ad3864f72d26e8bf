/**
 * Ids are consecutive, but damage can have deleted some. One that is further from the last counts as damaged, because each
 * takes 24 bytes.
 */
const checkedStreamIdGapMax = 1_024

/** Ids are consecutive from 1 on, so arrays hold the facts. */
export class StreamFacts {
  /** `NaN`: the stream is not known yet. */
  #nameChecksums = filled(1_024)
  /** The revision after the last checked row. `NaN`: that row is damaged. */
  #next = new Float64Array(1_024)
  #rows = new Float64Array(1_024)
  #known = 0
  #idMax = 0

  get known(): number {
    return this.#known
  }

  get idMax(): number {
    return this.#idMax
  }

  /** False: a damaged id could be so large that the arrays would use up all memory. */
  know(id: number, nameChecksum: number): boolean {
    if (!Number.isSafeInteger(id) || id < 1 || id > this.#idMax + checkedStreamIdGapMax) return false
    if (id >= this.#rows.length) this.#grow(id)
    if (Number.isNaN(this.#nameChecksums[id])) this.#known += 1
    this.#nameChecksums[id] = nameChecksum
    this.#idMax = Math.max(this.#idMax, id)
    return true
  }

  nameChecksum(id: number): number | null {
    const checksum = this.#nameChecksums[id]
    return checksum === undefined || Number.isNaN(checksum) ? null : checksum
  }

  next(id: number): number {
    return this.#next[id] ?? Number.NaN
  }

  setNext(id: number, revision: number): void {
    this.#next[id] = revision
  }

  countRow(id: number): void {
    this.#rows[id] = this.rows(id) + 1
  }

  rows(id: number): number {
    return this.#rows[id] ?? 0
  }

  #grow(id: number): void {
    const length = Math.max(2 * this.#rows.length, id + 1)
    this.#nameChecksums = grown(this.#nameChecksums, filled(length))
    this.#next = grown(this.#next, new Float64Array(length))
    this.#rows = grown(this.#rows, new Float64Array(length))
  }
}

const filled = (length: number): Float64Array<ArrayBuffer> => new Float64Array(length).fill(Number.NaN)

const grown = (from: Float64Array, to: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> => {
  to.set(from)
  return to
}

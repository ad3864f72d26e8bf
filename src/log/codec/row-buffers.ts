/** Further rows get memory of their own. */
export const rowBuffersMax = 16
/** For a batch of 1,000 readings. Grows to at most 1 MiB, and keeps its size. */
const rowBufferBytes = 64 * 1024

/** New memory for each large row would keep the garbage collector busy. */
export class RowBuffers {
  readonly #unused: Uint8Array[] = []
  #made = 0

  take(): Uint8Array | null {
    const unused = this.#unused.pop()
    if (unused !== undefined) return unused
    if (this.#made === rowBuffersMax) return null
    this.#made += 1
    return new Uint8Array(rowBufferBytes)
  }

  /** `row` must not be read again. */
  giveBack(row: Uint8Array): void {
    const { buffer } = row
    if (this.#unused.some((unused) => unused.buffer === buffer)) throw new Error('Cannot give back a buffer twice')
    this.#unused.push(new Uint8Array(buffer))
  }
}

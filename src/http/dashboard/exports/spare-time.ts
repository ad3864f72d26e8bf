/**
 * A client must take its export at this rate, because it holds one of `exportsMax` places. It may rest for `exportSpareMsMax`
 * in all, and earns that time back when it takes bytes faster.
 */
export const exportBytesPerSecondMin = 32 * 1024
/**
 * The kernel buffers some MB, and takes more only when a third of them has left. A client at the lowest rate seems to rest for 40 s
 * then.
 */
export const exportSpareMsMax = 60_000
/** How often the clients and sessions of exports are checked. */
export const exportLookMs = 5_000

/**
 * How long a client may still rest while its export waits for it. A client that reads a byte a second would otherwise hold one of
 * the `exportsMax` places for ever. The client spends the time while bytes wait for it, and earns time with the bytes that it takes.
 */
export class SpareTime {
  #ms = exportSpareMsMax
  #waitingBytes = 0

  /** Call it when bytes begin to wait for the client. */
  offer(bytes: number): void {
    this.#waitingBytes = bytes
  }

  /** Call it when the client has taken the bytes. */
  take(): void {
    this.#ms = Math.min(exportSpareMsMax, this.#ms + (this.#waitingBytes * 1_000) / exportBytesPerSecondMin)
    this.#waitingBytes = 0
  }

  /** Call it every `exportLookMs`. Returns true if the client has rested too long. */
  look(): boolean {
    if (this.#waitingBytes > 0) this.#ms -= exportLookMs
    return this.#ms <= 0
  }
}

/**
 * A client holds one of `exportsMax` places. It may rest for `exportSpareMsMax` in all, and earns that time back when it
 * takes bytes faster.
 */
export const exportBytesPerSecondMin = 32 * 1024
/**
 * The kernel buffers some MB, and takes more only when a third of them was sent. So a client at the lowest rate seems to
 * rest for 40 s.
 */
export const exportSpareMsMax = 60_000
export const exportLookMs = 5_000

/**
 * Without this, a client that reads a byte a second would hold a place for ever. It spends its spare time while bytes wait
 * for it.
 */
export class SpareTime {
  #ms = exportSpareMsMax
  #waitingBytes = 0

  offer(bytes: number): void {
    this.#waitingBytes = bytes
  }

  take(): void {
    this.#ms = Math.min(exportSpareMsMax, this.#ms + (this.#waitingBytes * 1_000) / exportBytesPerSecondMin)
    this.#waitingBytes = 0
  }

  /** Every `exportLookMs`. True if the client has rested too long. */
  look(): boolean {
    if (this.#waitingBytes > 0) this.#ms -= exportLookMs
    return this.#ms <= 0
  }
}

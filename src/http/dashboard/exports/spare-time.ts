import { exportBytesPerSecondMin, exportLookMs, exportSpareMsMax } from '../../../limits.ts'

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

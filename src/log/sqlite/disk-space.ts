import { diskBytesPerSecondMax, diskFreeBytesMin, diskLookMs, diskLookMsMin, diskRecoveryBytes } from '../../limits.ts'

/** When something is done later, as a parameter. */
export type Later = (ms: number, run: () => void) => () => void

export type DiskSpaceParts = {
  readonly reserveBytes: number
  /** Of the disk that holds the log. May fail. */
  readonly freeBytes: () => Promise<number>
  /** Pages of the log's file that hold nothing, and take the next rows. May fail. */
  readonly freePageBytes: () => number
  readonly later: Later
}

/**
 * Whether the log's disk has room for readings. Asked of the disk now and then, never for a request: often enough that the
 * log can't write all that is left between two looks.
 */
export class DiskSpace {
  readonly #parts: DiskSpaceParts
  #shortage: string | null = null
  #fault: string | null = null
  #isLooking = false
  #isStopped = false
  #forget: () => void = () => {}

  constructor(parts: DiskSpaceParts) {
    this.#parts = parts
    void this.#look()
  }

  /** Why there is no room for readings; `null`: there is. */
  get shortage(): string | null {
    return this.#shortage
  }

  /** Why the last look failed. Then the one before it holds. */
  get fault(): string | null {
    return this.#fault
  }

  /** A commit was refused for want of space, as by a quota. Readings wait for the next look, and are then tried again. */
  ranOut(why: string): void {
    this.#shortage = why
    if (this.#isLooking) return
    this.#forget()
    this.#lookIn(diskLookMs)
  }

  stop(): void {
    this.#isStopped = true
    this.#forget()
  }

  async #look(): Promise<void> {
    this.#isLooking = true
    let nextMs = diskLookMs
    try {
      const free = await this.#parts.freeBytes()
      if (this.#isStopped) return
      nextMs = this.#judge(free, this.#parts.freePageBytes())
      this.#fault = null
    } catch (cause) {
      this.#fault = cause instanceof Error ? cause.message : String(cause)
    }
    this.#isLooking = false
    if (!this.#isStopped) this.#lookIn(nextMs)
  }

  /** Returns in how many ms to look again. */
  #judge(free: number, freePages: number): number {
    const { reserveBytes } = this.#parts
    const above = Math.min(free + freePages - reserveBytes, free - diskFreeBytesMin)
    const isShort = above < (this.#shortage === null ? 0 : diskRecoveryBytes)
    this.#shortage = isShort ? shortageOf(free, freePages, reserveBytes) : null
    if (isShort) return diskLookMs
    const secondsLeft = above / diskBytesPerSecondMax
    return Math.min(diskLookMs, Math.max(diskLookMsMin, Math.floor(secondsLeft * 1_000)))
  }

  #lookIn(ms: number): void {
    this.#forget = this.#parts.later(ms, () => void this.#look())
  }
}

const shortageOf = (free: number, freePages: number, reserve: number): string =>
  `the disk has ${mebibytes(free)} MiB free and the log ${mebibytes(freePages)} MiB of free pages; DISK_RESERVE is ${mebibytes(reserve)} MiB`

const mebibytes = (bytes: number): number => Math.floor(bytes / 1024 ** 2)

import { statfs } from 'node:fs/promises'
import { diskBytesPerSecondMax, diskFreeBytesMin, diskLookMs, diskLookMsMin, diskRecoveryBytes } from '../../limits.ts'

/** Runs something later, by a clock that a test can drive. Returns a function that cancels it. */
export type Later = (ms: number, run: () => void) => () => void

/** Room in the log's file, and room that it still needs. */
export type FileRoom = {
  /** Pages that hold nothing, and take the next rows. */
  readonly freeBytes: number
  /** The file still grows by this much when the write-ahead log is copied into it. */
  readonly owedBytes: number
}

export type DiskSpaceParts = {
  readonly reserveBytes: number
  /** Of the disk that holds the log. May fail. */
  readonly freeBytes: () => Promise<number>
  /** May fail. */
  readonly fileRoom: () => FileRoom
  readonly later: Later
}

/**
 * Whether the log's disk has room for readings. A timer looks at the disk, and no request does. It looks so often that the log
 * can't write all that is left between two looks.
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
      nextMs = this.#judge(free, this.#parts.fileRoom())
      this.#fault = null
    } catch (cause) {
      this.#fault = cause instanceof Error ? cause.message : String(cause)
    }
    this.#isLooking = false
    if (!this.#isStopped) this.#lookIn(nextMs)
  }

  /** Returns in how many ms to look again. */
  #judge(onDisk: number, file: FileRoom): number {
    const { reserveBytes } = this.#parts
    const free = onDisk - file.owedBytes
    const above = Math.min(free + file.freeBytes - reserveBytes, free - diskFreeBytesMin)
    const isShort = above < (this.#shortage === null ? 0 : diskRecoveryBytes)
    this.#shortage = isShort ? shortageOf(onDisk, file, reserveBytes) : null
    if (isShort) return diskLookMs
    const secondsLeft = above / diskBytesPerSecondMax
    return Math.min(diskLookMs, Math.max(diskLookMsMin, Math.floor(secondsLeft * 1_000)))
  }

  #lookIn(ms: number): void {
    this.#forget = this.#parts.later(ms, () => void this.#look())
  }
}

const shortageOf = (onDisk: number, file: FileRoom, reserve: number): string => {
  const needed = file.owedBytes === 0 ? '' : `, of which the log still needs ${mebibytes(file.owedBytes)} MiB`
  const inFile = `free pages of the log take ${mebibytes(file.freeBytes)} MiB`
  return `the disk has ${mebibytes(onDisk)} MiB free${needed}; ${inFile}; DISK_RESERVE is ${mebibytes(reserve)} MiB`
}

const mebibytes = (bytes: number): number => Math.floor(bytes / 1024 ** 2)

export const freeBytesOf = async (folder: string): Promise<number> => {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

/** Keeps no process alive. */
export const laterByTimer: Later = (ms, run) => {
  const timer = setTimeout(run, ms)
  timer.unref()
  return () => clearTimeout(timer)
}

import { statfs } from 'node:fs/promises'
import { messageOf } from '../../domain/error-message.ts'
import { Trouble } from '../../domain/trouble.ts'
import {
  diskAnswerMsMax,
  diskBytesPerSecondMax,
  diskFreeBytesMin,
  diskLookMs,
  diskLookMsMin,
  diskRecoveryBytes,
  troubleCalmLooks,
} from '../../limits.ts'

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
  /** Of the disk that holds the log. May fail, or never answer. */
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
  readonly #short = new Trouble({ beginsAfterLooks: 0, endsAfterLooks: troubleCalmLooks })
  #ranOut: string | null = null
  /** The question that the disk has not answered yet. */
  #asked: Promise<number> | null = null
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
    return this.#short.why ?? this.#ranOut
  }

  /** Why the last look failed. Then the one before it holds. */
  get fault(): string | null {
    return this.#fault
  }

  /** A commit was refused for want of space, as by a quota. Readings wait for the next look, and are then tried again. */
  ranOut(why: string): void {
    this.#ranOut = why
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
      const free = await this.#freeBytes()
      if (this.#isStopped) return
      nextMs = this.#judge(free, this.#parts.fileRoom())
      this.#fault = null
    } catch (cause) {
      this.#fault = messageOf(cause)
    }
    this.#ranOut = null
    this.#isLooking = false
    if (!this.#isStopped) this.#lookIn(nextMs)
  }

  /**
   * A disk that hangs may never answer, and each open question keeps a thread of Bun's pool from all other work: with two
   * cores two of them stop it. So no second question is asked while one is open; a look waits for the open one.
   */
  #freeBytes(): Promise<number> {
    const { freeBytes, later } = this.#parts
    this.#asked ??= freeBytes().finally(() => {
      this.#asked = null
    })
    const answer = this.#asked
    return new Promise((resolve, reject) => {
      const forget = later(diskAnswerMsMax, () => reject(new Error(noAnswer)))
      this.#forget = forget
      answer.finally(forget).then(resolve, reject)
    })
  }

  /** Returns in how many ms to look again. */
  #judge(onDisk: number, file: FileRoom): number {
    const { reserveBytes } = this.#parts
    const free = onDisk - file.owedBytes
    const above = Math.min(free + file.freeBytes - reserveBytes, free - diskFreeBytesMin)
    const isShort = above < (this.#short.why === null ? 0 : diskRecoveryBytes)
    if (isShort) this.#short.note(shortageOf(onDisk, file, reserveBytes))
    this.#short.look()
    if (this.#short.why !== null) return diskLookMs
    const secondsLeft = above / diskBytesPerSecondMax
    return Math.min(diskLookMs, Math.max(diskLookMsMin, Math.floor(secondsLeft * 1_000)))
  }

  #lookIn(ms: number): void {
    this.#forget = this.#parts.later(ms, () => void this.#look())
  }
}

const noAnswer = `the disk has not said within ${diskAnswerMsMax / 1_000} s how much is free`

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

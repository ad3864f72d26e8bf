import { statfs } from 'node:fs/promises'
import { messageOf } from '../../domain/error-message.ts'
import { Trouble } from '../../domain/trouble.ts'
import { troubleCalmLooks } from '../../limits.ts'
import type { Schedule } from '../../schedule.ts'
import type { DiskFigures } from '../event-log.ts'

/** Readings are refused below this free space, so that other events still fit. Empty pages of the log do not count. */
export const diskFreeBytesMin = 64 * 1024 * 1024
/** Without this margin, readings would soon be refused again. */
export const diskRecoveryBytes = 16 * 1024 * 1024
export const diskLookMs = 1_000
/** The shortest time between two checks, when the disk is nearly full. */
export const diskLookMsMin = 50
/** After this time, the node warns that the free space is unknown. */
export const diskAnswerMsMax = 5_000
/** The log never writes faster. The disk is checked again before writing at this rate could fill it. */
export const diskBytesPerSecondMax = 128 * 1024 * 1024

export type FileRoom = {
  readonly logBytes: number
  /** Of the write-ahead log. */
  readonly walBytes: number
  /** Empty pages of the file: SQLite uses them again. */
  readonly freeBytes: number
  /** The file grows by this when the write-ahead log is copied into it. */
  readonly owedBytes: number
}

export type DiskSpaceParts = {
  readonly reserveBytes: number
  /** Never settles if the disk hangs. */
  readonly freeBytes: () => Promise<number>
  readonly fileRoom: () => FileRoom
  readonly later: Schedule['after']
}

/** docs/decisions/009-a-full-disk-stops-readings-only.md */
export class DiskSpace {
  readonly #parts: DiskSpaceParts
  readonly #short = new Trouble({ beginsAfterLooks: 0, endsAfterLooks: troubleCalmLooks })
  #ranOut: string | null = null
  #last: DiskFigures | null = null
  #asked: Promise<number> | null = null
  #fault: string | null = null
  #isLooking = false
  #isStopped = false
  #cancelLook: () => void = () => {}

  constructor(parts: DiskSpaceParts) {
    this.#parts = parts
    void this.#look()
  }

  get shortage(): string | null {
    return this.#short.why ?? this.#ranOut
  }

  /** `null` before the first check, and while checks fail: old figures would look like a healthy disk. */
  get figures(): DiskFigures | null {
    return this.#fault === null ? this.#last : null
  }

  /** The result of the last successful check still counts. */
  get fault(): string | null {
    return this.#fault
  }

  /** Readings are refused until the next check of the disk. */
  ranOut(why: string): void {
    this.#ranOut = why
    if (this.#isLooking) return
    this.#cancelLook()
    this.#lookIn(diskLookMs)
  }

  stop(): void {
    this.#isStopped = true
    this.#cancelLook()
  }

  async #look(): Promise<void> {
    this.#isLooking = true
    let nextMs = diskLookMs
    try {
      const free = await this.#freeBytes()
      if (this.#isStopped) return
      const room = this.#parts.fileRoom()
      const { logBytes, walBytes } = room
      this.#last = { freeBytes: free, reserveBytes: this.#parts.reserveBytes, logBytes, walBytes }
      nextMs = this.#judge(free, room)
      this.#fault = null
    } catch (cause) {
      this.#fault = messageOf(cause)
    }
    this.#ranOut = null
    this.#isLooking = false
    if (!this.#isStopped) this.#lookIn(nextMs)
  }

  /** If the disk hangs, each call blocks one of Bun's threads, so only one is open. */
  #freeBytes(): Promise<number> {
    const { freeBytes, later } = this.#parts
    this.#asked ??= freeBytes().finally(() => {
      this.#asked = null
    })
    const answer = this.#asked
    return new Promise((resolve, reject) => {
      const cancel = later(diskAnswerMsMax, () => reject(new Error(noAnswer)))
      this.#cancelLook = cancel
      answer.finally(cancel).then(resolve, reject)
    })
  }

  /** Returns the ms until the next check: fewer on a nearly full disk, which fast writes could fill. */
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
    this.#cancelLook = this.#parts.later(ms, () => void this.#look())
  }
}

const noAnswer = `the disk did not report its free space within ${diskAnswerMsMax / 1_000} s`

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

import { type Database, SQLiteError } from 'bun:sqlite'
import { closeSync, readSync } from 'node:fs'
import { isSystemError } from '../../domain/error-message.ts'
import { openFolderFile } from '../folder-file.ts'
import { readLogEnd, readStoredLogId } from './log-end.ts'
import { readWitness, saltsAt, saltsBytes, type Witness, WitnessFile, witnessPathBeside } from './witness-file.ts'

export type CommittedEnd = Pick<Witness, 'position' | 'recordedAt'>

type WalPages = { readonly pages: number; readonly copied: number }

/** Needs the log's id. A witness that cannot be written is older than the log, which raises no false alarm. */
export class WitnessWriter {
  readonly #logPath: string
  readonly #database: Database
  readonly #salts = Buffer.alloc(saltsBytes)
  #file: WitnessFile | null = null
  #wal: number | null = null
  #end: CommittedEnd = { position: 0, recordedAt: 0 }
  /** Before the first commit, any write-ahead log counts as new. */
  #wrote: WalPages = { pages: Number.POSITIVE_INFINITY, copied: 0 }
  #fault: string | null = null

  /**
   * Writes a missing witness, for example after an older version. One ahead of the log stays until a commit: its loss is
   * accepted but not yet recorded.
   */
  constructor(logPath: string, database: Database) {
    this.#logPath = logPath
    this.#database = database
    this.#noteFault(() => {
      const { logId, ...end } = readLogEnd(database)
      this.#end = end
      const old = readIfWhole(witnessPathBeside(logPath))
      const isAhead = old?.logId === logId && old.position > end.position
      if (logId === null || isAhead) return
      this.#readSalts()
      this.#write(0)
    })
  }

  /** Why the witness cannot be written. Until it can, a start may miss a lost end of the log. */
  get fault(): string | null {
    return this.#fault
  }

  /** Before the answer: otherwise a kill could leave an acknowledged commit without a witness. */
  written(end: CommittedEnd | null, wal: WalPages): void {
    if (end !== null) this.#end = end
    // Only a write-ahead log that begins anew has other salts. If that is missed, a start compares no pages.
    if (wal.pages < this.#wrote.pages || wal.copied < this.#wrote.copied) this.#readSalts()
    this.#wrote = wal
    this.#noteFault(() => this.#write(wal.pages))
  }

  close(): void {
    this.#file?.close()
    if (this.#wal !== null) closeSync(this.#wal)
    this.#file = null
    this.#wal = null
  }

  #write(walPages: number): void {
    this.#file ??= this.#open()
    this.#file?.write(this.#end, this.#salts, walPages)
  }

  /** The log can still be written, so the commit thread must not end. */
  #noteFault(work: () => void): void {
    try {
      work()
      this.#fault = null
    } catch (cause) {
      if (!isSystemError(cause) && !(cause instanceof SQLiteError)) throw cause
      this.#fault = cause.message
    }
  }

  #open(): WitnessFile | null {
    const logId = readStoredLogId(this.#database)
    return logId === null ? null : new WitnessFile(witnessPathBeside(this.#logPath), logId)
  }

  /** Closing drops no lock of SQLite, which locks other files. */
  #readSalts(): void {
    try {
      this.#wal ??= openFolderFile(`${this.#logPath}-wal`, 'read')
      const bytes = readSync(this.#wal, this.#salts, 0, saltsBytes, saltsAt)
      if (bytes < saltsBytes) this.#salts.fill(0)
    } catch (cause) {
      if (!isSystemError(cause)) throw cause
      this.#salts.fill(0)
    }
  }
}

const readIfWhole = (path: string): Witness | null => {
  try {
    return readWitness(path)
  } catch (cause) {
    if (cause instanceof RangeError) return null
    throw cause
  }
}

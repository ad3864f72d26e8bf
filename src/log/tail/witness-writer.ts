import { type Database, SQLiteError } from 'bun:sqlite'
import { closeSync, readSync } from 'node:fs'
import { isSystemError } from '../../domain/error-message.ts'
import { openFolderFile } from '../folder-file.ts'
import { readLogEnd, readStoredLogId } from './log-end.ts'
import { readWitness, saltsAt, saltsBytes, type Witness, WitnessFile, witnessPathBeside } from './witness-file.ts'

/** The place of the last committed row. */
export type CommittedEnd = Pick<Witness, 'position' | 'recordedAt'>

/** How many pages the write-ahead log has, and how many of them were copied into the log's file. */
type WalPages = { readonly pages: number; readonly copied: number }

/**
 * Keeps the witness of a log that this thread writes. A log without an id has no witness. A witness that cannot be
 * written stays as it is: it is then older than the log, which raises no false alarm. The next commit tries again.
 */
export class WitnessWriter {
  readonly #logPath: string
  readonly #database: Database
  readonly #salts = Buffer.alloc(saltsBytes)
  #file: WitnessFile | null = null
  /** The write-ahead log, opened for reading. */
  #wal: number | null = null
  #end: CommittedEnd = { position: 0, recordedAt: 0 }
  /** The write-ahead log at the last commit. Before the first, any write-ahead log counts as new. */
  #wrote: WalPages = { pages: Number.POSITIVE_INFINITY, copied: 0 }
  #fault: string | null = null

  /**
   * Writes the witness of a log that has none, for example because an older version wrote the log. A witness ahead of
   * the log stays until the next commit, because its loss is accepted but not yet recorded.
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

  /** Why the witness could not be written the last time, or `null`. Meanwhile, a start may miss a lost end of the log. */
  get fault(): string | null {
    return this.#fault
  }

  /**
   * Call this after a write was synced, and before its answer. Otherwise a kill between answer and witness would leave
   * an acknowledged commit without a witness.
   */
  written(end: CommittedEnd | null, wal: WalPages): void {
    if (end !== null) this.#end = end
    // Only a write-ahead log that begins anew has other salts. If that is missed, for example because another program has
    // copied its pages, the witness keeps the old salts, and a start compares no pages.
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

  /** An error of the disk or of SQLite must not end the commit thread, because the log can still be written. */
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

  /** Closing this file drops no lock of SQLite: SQLite locks other files. */
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

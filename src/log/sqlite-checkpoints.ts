import { type Database, SQLiteError } from 'bun:sqlite'
import { storeWalBytesMax } from '../limits.ts'
import { checkpoint, pageBytesOf } from './sqlite-file.ts'

/**
 * Copies the write-ahead log into the file when it has grown long. It runs behind the answers of a group and not inside
 * its COMMIT, as SQLite would by itself: there it would hold up those who wait, and swallow its own failures.
 */
export class SqliteCheckpoints {
  readonly #database: Database
  readonly #pagesMax: number
  /** So many pages that are not copied yet make the next one begin. */
  #dueAtPages: number
  #fault: string | null = null

  constructor(database: Database) {
    this.#database = database
    this.#pagesMax = storeWalBytesMax / pageBytesOf(database)
    this.#dueAtPages = this.#pagesMax
  }

  /** Why the last one failed; `null` if it did not. Nothing is lost by it, but the write-ahead log grows. */
  get fault(): string | null {
    return this.#fault
  }

  runIfDue(): void {
    const [, pages, copied] = checkpoint(this.#database, 'NOOP')
    if (pages - copied < this.#dueAtPages) return
    const left = this.#run()
    // Somebody is reading an old state, or it failed. To look costs time in proportion to what is left, so not each time.
    this.#dueAtPages = left === 0 ? this.#pagesMax : pages - copied + this.#pagesMax / 4
  }

  /** Pages that could not be copied. */
  #run(): number {
    try {
      const [, pages, copied] = checkpoint(this.#database, 'PASSIVE')
      this.#fault = null
      return pages - copied
    } catch (cause) {
      if (!(cause instanceof SQLiteError)) throw cause
      this.#fault = `the write-ahead log can't be copied into the log: ${cause.message}`
      return this.#pagesMax
    }
  }
}

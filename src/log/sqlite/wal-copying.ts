import { type Database, SQLiteError } from 'bun:sqlite'
import { storeWalBytesMax } from '../../limits.ts'
import { copyWal, pageBytes } from './sqlite-file.ts'

const walPagesMax = storeWalBytesMax / pageBytes

/**
 * Copies the write-ahead log into the file when it has grown long. It runs behind the answers of a group and not inside
 * its COMMIT, as SQLite would by itself: there it would hold up those who wait, and swallow its own failures.
 */
export class WalCopying {
  readonly #database: Database
  /** So many pages that are not copied yet make the next one begin. */
  #dueAtPages = walPagesMax
  #fault: string | null = null

  constructor(database: Database) {
    this.#database = database
  }

  /** Why the last one failed; `null` if it did not. Nothing is lost by it, but the write-ahead log grows. */
  get fault(): string | null {
    return this.#fault
  }

  runIfDue(): void {
    // After a failure not with each group: whoever commits tries again in a while.
    if (this.#fault === null) this.#run(this.#dueAtPages)
  }

  /** Makes one that failed again, however little waits: nothing may be written any more until it has succeeded. */
  retry(): void {
    if (this.#fault !== null) this.#run(0)
  }

  #run(fromPages: number): void {
    try {
      const waiting = this.#pagesWaiting('NOOP')
      if (waiting < fromPages) return
      // If somebody is reading an old state: to look again costs time in proportion to what waits, so not with each group.
      this.#dueAtPages = waiting + walPagesMax / 4
      if (this.#pagesWaiting('PASSIVE') === 0) this.#dueAtPages = walPagesMax
      this.#fault = null
    } catch (cause) {
      if (!(cause instanceof SQLiteError)) throw cause
      this.#fault = `the write-ahead log can't be copied into the log: ${cause.message}`
    }
  }

  #pagesWaiting(mode: 'NOOP' | 'PASSIVE'): number {
    const { pages, copied } = copyWal(this.#database, mode)
    return pages - copied
  }
}

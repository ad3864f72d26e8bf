import { type Database, SQLiteError } from 'bun:sqlite'
import { storeWalBytesMax } from '../../limits.ts'
import { copyWal, pageBytes } from './sqlite-file.ts'

const walPagesMax = storeWalBytesMax / pageBytes

/**
 * Copies a long write-ahead log into the log's file, after appends are answered. SQLite itself would copy it inside
 * COMMIT, delay the answers and hide failures.
 */
export class WalCopying {
  readonly #database: Database
  /** Copying starts when the write-ahead log has this many pages that are not copied yet. */
  #dueAtPages = walPagesMax
  #fault: string | null = null

  constructor(database: Database) {
    this.#database = database
  }

  /** Why the last copying failed, or `null`. No event is lost, but the write-ahead log grows. */
  get fault(): string | null {
    return this.#fault
  }

  runIfDue(): void {
    // After a failure, copying waits for a timer of the commit thread, which calls `retry`.
    if (this.#fault === null) this.#run(this.#dueAtPages)
  }

  /**
   * Copies after a failure, even if few pages wait. The node is not ready then, so perhaps no write comes that would
   * start the copying.
   */
  retry(): void {
    if (this.#fault !== null) this.#run(0)
  }

  #run(fromPages: number): void {
    try {
      const waiting = this.#pagesWaiting('NOOP')
      if (waiting < fromPages) return
      // Another program that reads the file can block copying. A new try is slow, so the next one waits for more pages.
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

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
    // After a failure, commits start no copying. Instead, a timer of the commit thread calls `retry` every second.
    if (this.#fault === null) this.#run(this.#dueAtPages)
  }

  /**
   * Tries to copy again after a failure, even if few pages wait. A timer calls this, because perhaps no commit
   * comes: after a failure, `/readyz` says not ready, so load balancers may send no writes.
   */
  retry(): void {
    if (this.#fault !== null) this.#run(0)
  }

  #run(fromPages: number): void {
    try {
      const waiting = this.#pagesWaiting('NOOP')
      if (waiting < fromPages) return
      // Another program that reads the file can block the copying. Each try is slow, so the next try waits until the
      // write-ahead log has more pages.
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

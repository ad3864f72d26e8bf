import { type Database, SQLiteError } from 'bun:sqlite'
import { storeWalBytesMax } from '../../limits.ts'
import { copyWal, pageBytes } from './sqlite-file.ts'

const walPagesMax = storeWalBytesMax / pageBytes

/**
 * Copies a long write-ahead log into the file, after appends are answered. SQLite itself would copy it inside COMMIT,
 * delay the answers and hide failures.
 */
export class WalCopying {
  readonly #database: Database
  /** Copying starts when this many pages wait to be copied. */
  #dueAtPages = walPagesMax
  #fault: string | null = null

  constructor(database: Database) {
    this.#database = database
  }

  /** Why copying failed, or `null`. No event is lost, but the write-ahead log grows. */
  get fault(): string | null {
    return this.#fault
  }

  runIfDue(): void {
    // After a failure, the commit thread calls `retry` after a pause.
    if (this.#fault === null) this.#run(this.#dueAtPages)
  }

  /**
   * Copies even if few pages wait. While copying fails the node is not ready, so perhaps no write comes that would
   * start it.
   */
  retry(): void {
    if (this.#fault !== null) this.#run(0)
  }

  #run(fromPages: number): void {
    try {
      const waiting = this.#pagesWaiting('NOOP')
      if (waiting < fromPages) return
      // A program that reads an old state blocks copying. A new try is slow, so it is not made after each commit group.
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

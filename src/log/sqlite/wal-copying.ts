import { type Database, SQLiteError } from 'bun:sqlite'
import { storeWalBytesMax } from '../../limits.ts'
import { copyWal, pageBytes } from './sqlite-file.ts'

const walPagesMax = storeWalBytesMax / pageBytes

/**
 * Copies a long write-ahead log into the file, after the answers. SQLite itself would copy inside COMMIT, delay the
 * answers and hide failures.
 */
export class WalCopying {
  readonly #database: Database
  /** Copying begins at this many waiting pages. */
  #dueAtPages = walPagesMax
  #fault: string | null = null

  constructor(database: Database) {
    this.#database = database
  }

  /** Nothing is lost, but the write-ahead log grows. */
  get fault(): string | null {
    return this.#fault
  }

  runIfDue(): void {
    // After a failure the owner retries after a pause.
    if (this.#fault === null) this.#run(this.#dueAtPages)
  }

  /** Nothing may be written until a failed copying succeeds. */
  retry(): void {
    if (this.#fault !== null) this.#run(0)
  }

  #run(fromPages: number): void {
    try {
      const waiting = this.#pagesWaiting('NOOP')
      if (waiting < fromPages) return
      // A reader of an old state blocks copying. Looking costs time for each waiting page, so not with each group.
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

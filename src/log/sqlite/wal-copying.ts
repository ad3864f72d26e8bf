import { type Database, SQLiteError } from 'bun:sqlite'
import { copyWal, pageBytes, type WalCopy } from './sqlite-file.ts'

/**
 * At this size, SQLite's write-ahead log is copied into the log's file, which takes 5 ms. With a quarter of this size, copying
 * would take three times as much time in total.
 */
export const storeWalBytesMax = 16 * 1024 * 1024
/** If more than this waits to be copied, another program holds the copying back. A warning says so. */
const walHeldBytesMin = 4 * storeWalBytesMax

/** How many pages the write-ahead log has, and how many of them were copied into the log's file. */
export type WalPages = Pick<WalCopy, 'pages' | 'copied'>

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
  #looked: WalCopy | null = null
  /** As of the last look or copying. */
  #last: WalPages = { pages: 0, copied: 0 }

  constructor(database: Database) {
    this.#database = database
  }

  /** Why the last copying failed, or `null`. No event is lost, but the write-ahead log grows. */
  get fault(): string | null {
    return this.#fault
  }

  /**
   * Why the write-ahead log has grown so long, or `null`. It names the size in steps, so that the text changes seldom. A reader
   * of an old state keeps all newer pages from being copied.
   */
  get heldBack(): string | null {
    const { pages, copied } = this.#last
    const steps = Math.floor(Math.log2(((pages - copied) * pageBytes) / walHeldBytesMin))
    if (steps < 0) return null
    return `another program has read it for long: more than ${(2 ** steps * walHeldBytesMin) / 2 ** 20} MiB wait in log.db-wal`
  }

  /** Returns no pages if SQLite cannot tell. `runIfDue` uses the same count, so that each commit counts only once. */
  look(): WalPages {
    try {
      this.#looked = copyWal(this.#database, 'NOOP')
      this.#last = this.#looked
      return this.#looked
    } catch (cause) {
      if (!(cause instanceof SQLiteError)) throw cause
      this.#looked = null
      return { pages: 0, copied: 0 }
    }
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
    this.#looked = null
    if (this.#fault !== null) this.#run(0)
  }

  #run(fromPages: number): void {
    try {
      const { pages, copied } = this.#looked ?? copyWal(this.#database, 'NOOP')
      this.#looked = null
      const waiting = pages - copied
      if (waiting < fromPages) return
      // Another program that reads the file can block the copying. Each try is slow, so the next try waits until the
      // write-ahead log has more pages.
      this.#dueAtPages = waiting + walPagesMax / 4
      const after = copyWal(this.#database, 'PASSIVE')
      this.#last = after
      if (after.pages === after.copied) this.#dueAtPages = walPagesMax
      this.#fault = null
    } catch (cause) {
      if (!(cause instanceof SQLiteError)) throw cause
      this.#fault = `the write-ahead log can't be copied into the log: ${cause.message}`
    }
  }
}

import { type Database, SQLiteError } from 'bun:sqlite'
import { copyWal, pageBytes, type WalCopy } from './sqlite-file.ts'

/** Copying this much takes 5 ms. With a quarter of it, copying would take three times as much time in total. */
export const storeWalBytesMax = 16 * 1024 * 1024
/** With more bytes in the write-ahead log, another program holds the copying back, and a warning says so. */
const walHeldBytesMin = 4 * storeWalBytesMax

export type WalPages = Pick<WalCopy, 'pages' | 'copied'>

const walPagesMax = storeWalBytesMax / pageBytes

/** Copies after the answers: SQLite itself would copy inside COMMIT, delay the answers, and hide failures. */
export class WalCopying {
  readonly #database: Database
  /** Copying is due when this many pages are not copied yet. */
  #dueAtPages = walPagesMax
  #fault: string | null = null
  #looked: WalCopy | null = null
  #last: WalPages = { pages: 0, copied: 0 }

  constructor(database: Database) {
    this.#database = database
  }

  /** Why the last copying failed. No event is lost, but the write-ahead log grows. */
  get fault(): string | null {
    return this.#fault
  }

  /**
   * A reader of an old state keeps newer pages from being copied. The size is in steps, so that the text changes seldom.
   */
  get heldBack(): string | null {
    const { pages, copied } = this.#last
    const steps = Math.floor(Math.log2(((pages - copied) * pageBytes) / walHeldBytesMin))
    if (steps < 0) return null
    return `another program has read it for long: more than ${(2 ** steps * walHeldBytesMin) / 2 ** 20} MiB wait in log.db-wal`
  }

  /** Empty if SQLite cannot tell. `runIfDue` uses this count, so that each commit counts once. */
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
    // After a failure, only the timer's `retry` copies.
    if (this.#fault === null) this.#run(this.#dueAtPages)
  }

  /** Even if few pages wait: after a failure, perhaps no commit comes (`/readyz` says not ready). */
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
      // A blocked try is slow, so the next waits for more pages.
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

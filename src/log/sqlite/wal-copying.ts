import { type Database, SQLiteError } from 'bun:sqlite'
import { copyWal, pageBytes, type WalCopy } from './sqlite-file.ts'

/** Copying this much takes 5 ms. With a quarter of it, copying would take three times as much time in total. */
export const storeWalBytesMax = 16 * 1024 * 1024
/** If more waits, another program holds the copying back, and a warning says so. */
const walHeldBytesMin = 4 * storeWalBytesMax

export type WalPages = Pick<WalCopy, 'pages' | 'copied'>

const walPagesMax = storeWalBytesMax / pageBytes

/** Copies after appends are answered. SQLite itself would copy inside COMMIT, delay the answers and hide failures. */
export class WalCopying {
  readonly #database: Database
  /** Pages that are not copied yet. */
  #dueAtPages = walPagesMax
  #fault: string | null = null
  #looked: WalCopy | null = null
  #last: WalPages = { pages: 0, copied: 0 }

  constructor(database: Database) {
    this.#database = database
  }

  /** No event is lost, but the write-ahead log grows. */
  get fault(): string | null {
    return this.#fault
  }

  /**
   * A reader of an old state keeps newer pages from being copied. The size is named in steps, so that the text changes
   * seldom.
   */
  get heldBack(): string | null {
    const { pages, copied } = this.#last
    const steps = Math.floor(Math.log2(((pages - copied) * pageBytes) / walHeldBytesMin))
    if (steps < 0) return null
    return `another program has read it for long: more than ${(2 ** steps * walHeldBytesMin) / 2 ** 20} MiB wait in log.db-wal`
  }

  /** No pages if SQLite cannot tell. `runIfDue` uses the same count, so that each commit counts only once. */
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
    // After a failure, commits start no copying: a timer calls `retry` every second.
    if (this.#fault === null) this.#run(this.#dueAtPages)
  }

  /** Copies even if few pages wait: after a failure, `/readyz` says not ready, so perhaps no commit comes. */
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
      // Each try that is blocked is slow, so the next waits until the write-ahead log has more pages.
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

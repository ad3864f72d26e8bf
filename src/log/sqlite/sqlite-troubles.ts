import { SQLiteError } from 'bun:sqlite'
import { overloadedLooksMin, survivedFsyncLooks, troubleCalmLooks, troubleLookMs } from '../../limits.ts'
import type { LogTrouble, LogTroubleKind } from '../event-log.ts'
import { Trouble } from '../trouble.ts'
import type { Later } from './disk-space.ts'

const atOnce = { beginsAfterLooks: 0, endsAfterLooks: troubleCalmLooks }

/** What goes wrong with the embedded log while it goes on. */
export class SqliteTroubles {
  readonly unreadable = new Trouble(atOnce)
  readonly overloaded = new Trouble({ beginsAfterLooks: overloadedLooksMin, endsAfterLooks: overloadedLooksMin })
  readonly #full = new Trouble(atOnce)
  readonly #unwritable = new Trouble(atOnce)
  readonly #survivedFsync = new Trouble({ beginsAfterLooks: 0, endsAfterLooks: survivedFsyncLooks })
  readonly #later: Later
  readonly #read: () => void
  #forget: () => void = () => {}

  /** `read` reads a little of the file: a disk that can't be read is not well because nobody reads. */
  constructor(later: Later, read: () => void) {
    this.#later = later
    this.#read = read
    this.#lookLater()
  }

  /** `others`: what the log knows by itself. */
  list(others: Readonly<Partial<Record<LogTroubleKind, string | null>>>): readonly LogTrouble[] {
    const reasons: readonly (readonly [LogTroubleKind, string | null])[] = [
      ['full', others.full ?? this.#full.why],
      ['unreadable', this.unreadable.why],
      ['unwritable', this.#unwritable.why],
      ['overloaded', this.overloaded.why],
      ['space_unknown', others.space_unknown ?? null],
      ['survived_fsync', this.#survivedFsync.why],
    ]
    return reasons.flatMap(([kind, why]) => (why === null ? [] : [{ kind, why }]))
  }

  notWritten(reason: 'full' | 'unavailable', why: string): void {
    if (reason === 'full') this.#full.note(why)
    else this.#unwritable.note(why)
  }

  /** `survived`: why its first fsync had failed. */
  written({ survived }: { readonly survived?: string }): void {
    if (this.#unwritable.why !== null) this.#unwritable.end()
    if (survived !== undefined) this.#survivedFsync.note(survived)
  }

  readingsWritten(): void {
    if (this.#full.why !== null) this.#full.end()
  }

  stop(): void {
    this.#forget()
  }

  #lookLater(): void {
    this.#forget = this.#later(troubleLookMs, () => {
      this.#look()
      this.#lookLater()
    })
  }

  #look(): void {
    if (this.unreadable.why !== null) this.#tryToRead()
    for (const trouble of [this.unreadable, this.overloaded, this.#full, this.#unwritable, this.#survivedFsync]) {
      trouble.look()
    }
  }

  #tryToRead(): void {
    try {
      this.#read()
    } catch (cause) {
      if (!(cause instanceof SQLiteError)) throw cause
      this.unreadable.note(cause.message)
    }
  }
}

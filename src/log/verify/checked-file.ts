import { type Database, SQLiteError } from 'bun:sqlite'
import { BoundedMap } from '../../domain/bounded-map.ts'
import { canUseTexts, schemaDifferences } from '../sqlite/schema.ts'
import { isMalformed } from '../sqlite/sqlite-faults.ts'
import { openReadOnly } from '../sqlite/sqlite-file.ts'

const checkedNamesMax = 256

/** Between two steps, nothing is locked, and the file can change. */
export type Step = {
  readonly phase: 'streams' | 'rows' | 'index' | 'pages'
  /** An estimate of what the step has read. */
  readonly bytes: number
  /** Checked so far. */
  readonly events: number
  /** Of the phase, from 0 to 1. */
  readonly share: number
}

/** SQLite names the indexes of UNIQUE columns. */
export const revisionsIndex = 'sqlite_autoindex_events_1'
export const namesIndex = 'sqlite_autoindex_streams_1'

/** False for example if the disk cannot be read, or if the file is busy. */
export const isDamage = (cause: unknown): cause is SQLiteError =>
  cause instanceof SQLiteError && (isMalformed(cause) || /^SQLITE_TOOBIG/.test(cause.code ?? ''))

export class CheckedFile implements Disposable {
  readonly database: Database
  readonly #names = new BoundedMap<number, string>(checkedNamesMax)

  /** @throws NotACellarbookLog, UnsupportedLogFormat, DataFolderUnwritable, LogFileBusy, Outage */
  constructor(path: string) {
    this.database = openReadOnly(path)
  }

  [Symbol.dispose](): void {
    this.database.close(true)
  }

  get hasTexts(): boolean {
    return canUseTexts(this.database)
  }

  schemaDifferences(): readonly string[] {
    return schemaDifferences(this.database)
  }

  /** All reads see the same state. Keep it short: meanwhile, SQLite cannot empty the write-ahead log. */
  atOneMoment<T>(read: () => T): T {
    this.database.run('BEGIN')
    try {
      return read()
    } finally {
      // An error can have ended the transaction already.
      if (this.database.inTransaction) this.database.run('ROLLBACK')
    }
  }

  nameOf(stream: number): string | null {
    const known = this.#names.get(stream)
    if (known !== undefined) return known
    const select = 'SELECT name FROM streams NOT INDEXED WHERE id = ?'
    const name = this.database.query<{ name: unknown }, [number]>(select).get(stream)?.name
    if (typeof name !== 'string') return null
    this.#names.set(stream, name)
    return name
  }

  /** Events before this revision are truncated. */
  keptFrom(stream: number): number {
    const select = 'SELECT kept_from AS keptFrom FROM truncations WHERE stream = ?'
    return this.database.query<{ keptFrom: number }, [number]>(select).get(stream)?.keptFrom ?? 0
  }
}

import { type Database, SQLiteError } from 'bun:sqlite'
import type { RecordedEvent } from '../../../domain/events.ts'
import { createCodec } from '../../codec/codec.ts'
import type { ReadAllOptions, ReadOptions } from '../../event-log.ts'
import { assertPage } from '../../storable.ts'
import { faultOf } from '../sqlite-faults.ts'
import { openReadOnly } from '../sqlite-file.ts'
import { SqliteReads } from './sqlite-reads.ts'

/** `SqliteLog` must have opened the file first. */
export class FileReads {
  readonly #path: string
  readonly #database: Database
  readonly #reads: SqliteReads
  readonly #version: { get(): { data_version: number } | null }
  #seenVersion = -1

  /** @throws the errors of `openReadOnly`, Outage */
  constructor(path: string) {
    this.#path = path
    this.#database = openReadOnly(path)
    try {
      this.#reads = new SqliteReads(this.#database, createCodec())
      this.#version = this.#database.prepare<{ data_version: number }, []>('PRAGMA data_version')
    } catch (cause) {
      this.#database.close()
      throw cause instanceof SQLiteError ? faultOf(`open "${path}"`, cause) : cause
    }
  }

  async read(stream: string, options: ReadOptions): Promise<readonly RecordedEvent[]> {
    assertPage(options.limit)
    return this.#inOneState(() => this.#reads.read(stream, options))
  }

  async readAll(options: ReadAllOptions): Promise<readonly RecordedEvent[]> {
    assertPage(options.limit)
    return this.#inOneState(() => this.#reads.readAll(options))
  }

  close(): void {
    this.#database.close()
  }

  /** A read takes several statements, while another connection changes the file. */
  #inOneState(read: () => readonly RecordedEvent[]): readonly RecordedEvent[] {
    try {
      this.#database.run('BEGIN')
      try {
        this.#forgetOldMarks()
        return read()
      } finally {
        // After some faults SQLite has ended the transaction.
        if (this.#database.inTransaction) this.#database.run('COMMIT')
      }
    } catch (cause) {
      throw cause instanceof SQLiteError ? faultOf(`read the log in "${this.#path}"`, cause) : cause
    }
  }

  /** A purge by another connection must hide its events at once. */
  #forgetOldMarks(): void {
    const version = this.#version.get()?.data_version ?? -1
    if (version !== this.#seenVersion) this.#reads.forgetStreams()
    this.#seenVersion = version
  }
}

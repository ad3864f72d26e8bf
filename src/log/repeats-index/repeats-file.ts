import { Database, SQLiteError, type Statement } from 'bun:sqlite'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { isSystemError } from '../../domain/error-message.ts'
import type { FoldedTo } from '../../domain/log-reference.ts'
import type { Idempotency, IdempotentAppend } from '../../domain/reading/idempotency-key.ts'
import { storeBusyMsMax } from '../../limits.ts'
import { hashBytesOf } from '../codec/packed-idempotency.ts'
import { newestIdempotency } from '../codec/stored-idempotency.ts'
import { makeFolderFile } from '../folder-file.ts'
import { IndexUnusable, type RepeatsChange, type RepeatsIndex } from '../repeats-index.ts'
import { emptyTotal } from '../rows-total.ts'
import { type AppendRow, appendColumns, isUndamaged } from './append-checksum.ts'
import { headTable, readHead, writeHead } from './index-head.ts'
import { type RepeatsWriter, writeOnThread } from './repeats-writer.ts'

export const repeatsPathIn = (dataDir: string): string => join(dataDir, 'idempotency.db')

/** A file of another format is deleted, and the index is built again from the log. */
const formatVersion = 4

const tables = `
  CREATE TABLE appends (
    key_hash BLOB NOT NULL CHECK (length(key_hash) = 32),
    stream TEXT NOT NULL,
    revision INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    body_hash BLOB NOT NULL CHECK (length(body_hash) = 32),
    batch TEXT,
    version INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (key_hash, stream)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX appends_by_time ON appends (recorded_at);
  ${headTable}
`

export type RepeatsFileOptions = {
  readonly dataDir: string
  /**
   * Id of the log from which the index is built. A file of another log is useless, because its positions mean other
   * events.
   */
  readonly logId: string
  /** Called with the reason when the file is found unusable. The index must then be built again from the log. */
  readonly onReplaced?: (why: string) => void
}

/**
 * Opens the index as an SQLite file. A damaged file, or a file of another log or format, is replaced. A thread writes
 * the file, so that no fsync stops the event loop.
 * @throws IndexUnusable if the file cannot be opened or replaced
 */
export const openRepeatsFile = (options: RepeatsFileOptions): RepeatsIndex => new RepeatsFile(options)

class RepeatsFile implements RepeatsIndex {
  readonly #path: string
  readonly #logId: string
  readonly #onReplaced: (why: string) => void
  #reads: Reads
  #writer: RepeatsWriter
  #foldedTo: FoldedTo | null

  constructor({ dataDir, logId, onReplaced = () => {} }: RepeatsFileOptions) {
    this.#path = repeatsPathIn(dataDir)
    this.#onReplaced = onReplaced
    this.#logId = logId
    this.#reads = this.#open()
    this.#foldedTo = this.#reads.foldedTo
    this.#writer = writeOnThread(this.#path)
  }

  get foldedTo(): FoldedTo | null {
    return this.#foldedTo
  }

  find(stream: string, keyHash: string): IdempotentAppend | null {
    try {
      return orUnusable(() => this.#reads.find(stream, keyHash))
    } catch (cause) {
      if (cause instanceof IndexUnusable) this.#onReplaced(cause.message)
      throw cause
    }
  }

  async write(change: RepeatsChange): Promise<void> {
    await this.#writer.write(change)
    this.#foldedTo = change.foldedTo ?? this.#foldedTo
  }

  async check(): Promise<void> {
    try {
      await this.#writer.check()
    } catch (cause) {
      if (!(cause instanceof IndexUnusable)) throw cause
      this.#onReplaced(cause.message)
      await this.startAnew()
    }
  }

  async startAnew(): Promise<void> {
    await this.close()
    orUnusable(() => removeFile(this.#path))
    this.#reads = this.#open()
    this.#foldedTo = null
    this.#writer = writeOnThread(this.#path)
  }

  async close(): Promise<void> {
    await this.#writer.close()
    this.#reads.close()
  }

  #open(): Reads {
    const open = (): Reads => new Reads(this.#path, this.#logId)
    try {
      return orUnusable(open)
    } catch (cause) {
      if (!(cause instanceof IndexUnusable)) throw cause
      this.#onReplaced(cause.message)
    }
    return orUnusable(() => {
      removeFile(this.#path)
      return open()
    })
  }
}

class Reads {
  readonly foldedTo: FoldedTo | null
  readonly #database: Database
  readonly #findFrom: Find
  readonly #findBefore: Find

  constructor(path: string, logId: string) {
    makeFolderFile(path)
    this.#database = new Database(path)
    try {
      this.foldedTo = prepareTables(this.#database, logId)
      this.#findFrom = this.#database.prepare(findFrom)
      this.#findBefore = this.#database.prepare(findBefore)
    } catch (cause) {
      this.#database.close(true)
      throw cause
    }
  }

  find(stream: string, keyHash: string): IdempotentAppend | null {
    const keyBytes = hashBytesOf(keyHash)
    const row = this.#findFrom.get(keyBytes, stream)
    if (row !== null) assertUndamaged(row)
    if (row === null || row.stream !== stream || Buffer.compare(row.key_hash, keyBytes) !== 0) {
      // Damage that hides a row, such as a changed hash, is on one of the two sides of its place.
      const before = this.#findBefore.get(keyBytes, stream)
      if (before !== null) assertUndamaged(before)
      return null
    }
    return { stream, revision: row.revision, recordedAt: row.recorded_at, idempotency: idempotencyOf(keyHash, row) }
  }

  close(): void {
    this.#findFrom.finalize()
    this.#findBefore.finalize()
    this.#database.close(true)
  }
}

/** @throws IndexUnusable */
const assertUndamaged = (row: AppendRow): void => {
  if (isUndamaged(row)) return
  throw new IndexUnusable('Cannot use the index of idempotency keys: a row does not match its checksum')
}

const idempotencyOf = (keyHash: string, { body_hash, batch, version }: AppendRow): Idempotency =>
  newestIdempotency(version, {
    keyHash,
    bodyHash: body_hash.toHex(),
    batch: batch === null ? null : JSON.parse(batch),
  })

type Find = Statement<AppendRow, [Uint8Array, string]>

const findFrom = `
  SELECT ${appendColumns} FROM appends WHERE (key_hash, stream) >= (?, ?) ORDER BY key_hash, stream LIMIT 1
`
const findBefore = `
  SELECT ${appendColumns} FROM appends WHERE (key_hash, stream) < (?, ?) ORDER BY key_hash DESC, stream DESC LIMIT 1
`

/**
 * Creates the tables of a new file. Returns the last event that the index includes, or `null` for an empty index.
 * @throws IndexUnusable if the file has another format, belongs to another log, or its head is damaged
 */
const prepareTables = (database: Database, logId: string): FoldedTo | null => {
  database.run(`PRAGMA busy_timeout = ${storeBusyMsMax}`)
  database.run('PRAGMA journal_mode = WAL')
  const version = database.query<{ user_version: number }, []>('PRAGMA user_version').get()?.user_version
  if (version === 0) {
    database.run('BEGIN IMMEDIATE')
    database.run(tables)
    writeHead(database, { logId, foldedTo: null, total: emptyTotal })
    database.run(`PRAGMA user_version = ${formatVersion}`)
    database.run('COMMIT')
  } else if (version !== formatVersion) throw new IndexUnusable(`Cannot use a file of format ${version}`)
  const head = readHead(database)
  if (head.logId !== logId) throw new IndexUnusable('Cannot use a file that was folded from another log')
  database.run('PRAGMA query_only = ON')
  return head.foldedTo
}

const removeFile = (path: string): void => {
  for (const each of [path, `${path}-wal`, `${path}-shm`]) rmSync(each, { force: true })
}

/**
 * Throws IndexUnusable if the file is damaged. SQLite, the file system, JSON and the codec each report a damaged file
 * with a different error.
 */
const orUnusable = <T>(use: () => T): T => {
  try {
    return use()
  } catch (cause) {
    if (cause instanceof IndexUnusable) throw cause
    const isOfFile =
      cause instanceof SQLiteError ||
      cause instanceof SyntaxError ||
      cause instanceof RangeError ||
      isSystemError(cause)
    if (!isOfFile) throw cause
    throw new IndexUnusable(`Cannot use the index of idempotency keys: ${cause.message}`, { cause })
  }
}

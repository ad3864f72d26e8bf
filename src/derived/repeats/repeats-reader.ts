import { Database, SQLiteError, type Statement } from 'bun:sqlite'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { Idempotency, type IdempotentAppend } from '../../domain/reading/idempotency-key.ts'
import { storeBusyMsMax } from '../../limits.ts'
import { hashBytesOf } from '../../log/codec/packed-idempotency.ts'
import type { RepeatsIndex } from '../../log/repeats-index.ts'
import { isPassing } from '../../log/sqlite/sqlite-faults.ts'
import type { DerivedStore } from '../derived-store.ts'
import { ModelUnusable, modelPath, readHead } from '../model-file.ts'
import { type AppendRow, appendColumns, isUndamaged } from './append-row.ts'
import { repeatsModel } from './repeats-model.ts'

type Store = Pick<DerivedStore, 'opening' | 'progress' | 'rebuild' | 'listen' | 'hurry'>

/** On the event loop: a look-up reads one or two rows. */
export class RepeatsReader implements RepeatsIndex {
  readonly #path: string
  readonly #store: Store
  #opened: Opened | null = null

  constructor(dataDir: string, store: Store) {
    this.#path = modelPath(dataDir, repeatsModel.name)
    this.#store = store
  }

  get foldedTo(): number | null {
    if (this.#store.opening(repeatsModel.name) === null) return null
    // An empty file lacks nothing before the log's first event.
    return this.#store.progress(repeatsModel.name).position ?? 0
  }

  get trouble(): string | null {
    return this.#store.progress(repeatsModel.name).trouble
  }

  find(stream: string, keyHash: string): IdempotentAppend | null | 'unknown' {
    const opening = this.#store.opening(repeatsModel.name)
    if (opening === null) return 'unknown'
    try {
      return this.#open(opening).find(stream, keyHash)
    } catch (cause) {
      if (cause instanceof SQLiteError && isPassing(cause)) return 'unknown'
      if (!isOfFile(cause)) throw cause
      this.close()
      this.#store.rebuild(repeatsModel.name, opening, cause.message)
      return 'unknown'
    }
  }

  listen(listener: () => void): void {
    this.#store.listen(repeatsModel.name, listener)
  }

  hurry(position: number): void {
    this.#store.hurry(repeatsModel.name, position)
  }

  close(): void {
    this.#opened?.close()
    this.#opened = null
  }

  #open(opening: number): Opened {
    if (this.#opened?.opening === opening) return this.#opened
    this.close()
    this.#opened = new Opened(this.#path, opening)
    // Somebody can have put an older copy in its place.
    if (this.#opened.position < (this.foldedTo ?? 0)) throw new ModelUnusable('it was replaced while it was in use')
    return this.#opened
  }
}

/** SQLite and JSON each report a damaged file with a different error. */
const isOfFile = (cause: unknown): cause is Error =>
  cause instanceof SQLiteError || cause instanceof ModelUnusable || cause instanceof SyntaxError

type Find = Statement<AppendRow, [Uint8Array, string]>

class Opened {
  readonly opening: number
  readonly position: number
  readonly #database: Database
  readonly #findFrom: Find
  readonly #findBefore: Find

  constructor(path: string, opening: number) {
    this.opening = opening
    this.#database = new Database(path, { readwrite: true, create: false })
    try {
      this.#database.run(`PRAGMA busy_timeout = ${storeBusyMsMax}`)
      this.#database.run('PRAGMA query_only = ON')
      this.position = readHead(this.#database)?.position ?? 0
      this.#findFrom = this.#database.prepare(findFrom)
      this.#findBefore = this.#database.prepare(findBefore)
    } catch (cause) {
      this.#database.close()
      throw cause
    }
  }

  /** @throws ModelUnusable, SQLiteError, SyntaxError */
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

/** @throws ModelUnusable */
const assertUndamaged = (row: AppendRow): void => {
  if (!isUndamaged(row)) throw new ModelUnusable('a row does not match its checksum')
}

const idempotencyCheck = TypeCompiler.Compile(Idempotency)

const idempotencyOf = (keyHash: string, { body_hash, batch }: AppendRow): Idempotency => {
  const stored: unknown = { keyHash, bodyHash: body_hash.toHex(), batch: batch === null ? null : JSON.parse(batch) }
  if (idempotencyCheck.Check(stored)) return stored
  throw new ModelUnusable('a row has another form')
}

const findFrom = `
  SELECT ${appendColumns} FROM appends WHERE (key_hash, stream) >= (?, ?) ORDER BY key_hash, stream LIMIT 1
`
const findBefore = `
  SELECT ${appendColumns} FROM appends WHERE (key_hash, stream) < (?, ?) ORDER BY key_hash DESC, stream DESC LIMIT 1
`

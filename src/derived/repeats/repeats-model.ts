/**
 * Where the requests of the last day with an idempotency key are stored. A wrong row could make a wrong decision. So each
 * row has a checksum, and the sum of them shows a deleted row.
 */
import type { Database, Statement } from 'bun:sqlite'
import { checksumOf } from '../../bytes/checksum.ts'
import { countOf } from '../../domain/reading/columns.ts'
import { type IdempotentAppend, idempotentAppendAt } from '../../domain/reading/idempotency-key.ts'
import { isRun, type LogItem, lastPositionOf, type RecordedRun } from '../../domain/reading/recorded-run.ts'
import { isRecordStream } from '../../domain/stream-names.ts'
import { idempotencyMarginMs, idempotencyMs, modelRowsPerStep } from '../../limits.ts'
import { hashBytesOf } from '../../log/codec/packed-idempotency.ts'
import { FlushSteps } from '../flush-steps.ts'
import type { Model, ModelKind } from '../model.ts'
import { ModelUnusable, readHead } from '../model-file.ts'
import { type AppendRow, appendChecksum, appendColumns, isUndamaged } from './append-row.ts'
import { emptyTotal, type RowsTotal, totalWith, totalWithout } from './rows-total.ts'

/** New idempotency keys wait in memory for about this time, and for the next heartbeat. */
const repeatsFlushEveryMs = 250
/**
 * A flush of new idempotency keys also deletes expired ones: at most this number more than it adds. So a long index gets
 * shorter.
 */
export const idempotencyForgottenAtOnceMax = 2_000

const keptMs = idempotencyMs + idempotencyMarginMs

/** `total` has one row, which belongs to the head's position. */
const tables = `
  CREATE TABLE appends (
    key_hash BLOB NOT NULL CHECK (length(key_hash) = 32),
    stream TEXT NOT NULL,
    revision INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    body_hash BLOB NOT NULL CHECK (length(body_hash) = 32),
    batch TEXT,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (key_hash, stream)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX appends_by_time ON appends (recorded_at);
  CREATE TABLE total (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    position INTEGER NOT NULL,
    append_count INTEGER NOT NULL,
    append_sum INTEGER NOT NULL,
    checksum INTEGER NOT NULL
  ) STRICT;
`

export const repeatsModel: ModelKind = {
  name: 'idempotency',
  format: 7,
  tables,
  flushEveryMs: repeatsFlushEveryMs,
  keptMs,
  isUrgent: true,
  check: (database) => damageIn(database),
  open: (database) => new RepeatsModel(database),
}

type Deleted = { readonly checksum: number }

class RepeatsModel implements Model {
  readonly #insert: Statement
  readonly #deleteOlder: Statement<Deleted, [Uint8Array, string, number]>
  readonly #forget: Statement<Deleted, [number, number]>
  readonly #writeTotal: Statement
  readonly #steps = new FlushSteps()
  #appends: IdempotentAppend[] = []
  #position: number
  #total: RowsTotal
  #newestMs: number

  constructor(database: Database) {
    this.#total = totalIn(database)
    this.#position = readHead(database)?.position ?? 0
    this.#newestMs = database.query<{ ms: number }, []>('SELECT max(recorded_at) AS ms FROM appends').get()?.ms ?? 0
    this.#insert = database.prepare(`
      INSERT INTO appends (${appendColumns}) VALUES (?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (key_hash, stream) DO NOTHING
    `)
    this.#deleteOlder = database.prepare(
      'DELETE FROM appends WHERE key_hash = ? AND stream = ? AND revision < ? RETURNING checksum',
    )
    // The outer condition tests the row itself. A damaged entry of the index on times then deletes no newer row.
    this.#forget = database.prepare(`
      DELETE FROM appends WHERE recorded_at < ?1 AND (key_hash, stream) IN
        (SELECT key_hash, stream FROM appends WHERE recorded_at < ?1 ORDER BY recorded_at LIMIT ?2)
        RETURNING checksum
    `)
    this.#writeTotal = database.prepare('REPLACE INTO total VALUES (1, ?, ?, ?, ?)')
  }

  get pending(): number {
    return this.#appends.length
  }

  fold(items: readonly LogItem[]): void {
    for (const item of items) {
      if (isRun(item)) this.#foldRun(item)
      else if (item.metadata.idempotency !== undefined) {
        const append = idempotentAppendAt(item)
        if (append !== null) this.#appends.push(append)
      }
      // The times of records, such as sign-ins, can be wrong.
      if (item.recordedAt > this.#newestMs && !isRecordStream(item.stream)) this.#newestMs = item.recordedAt
    }
    const last = items.at(-1)
    if (last !== undefined) this.#position = lastPositionOf(last)
  }

  /** Deletes some more rows than it adds, so that a file with too many gets shorter. */
  *flush(nowMs: number): Generator<void> {
    const forgetBeforeMs = Math.min(nowMs, this.#newestMs) - keptMs
    const appends = this.#appends.filter(({ recordedAt }) => recordedAt >= forgetBeforeMs)
    this.#appends = []
    yield* this.#steps.each(appends, (append) => this.#write(append))
    const forgottenMax = appends.length + idempotencyForgottenAtOnceMax
    for (let forgotten = 0; forgotten < forgottenMax; forgotten += modelRowsPerStep) {
      const rows = this.#forget.all(forgetBeforeMs, modelRowsPerStep)
      this.#total = rows.reduce(withoutRow, this.#total)
      if (this.#steps.isFull(rows.length)) yield
      if (rows.length < modelRowsPerStep) break
    }
    const { count, sum } = this.#total
    this.#writeTotal.run(this.#position, count, sum, totalChecksum(this.#position, this.#total))
  }

  #foldRun({ stream, revision: first, recordedAt, run }: RecordedRun): void {
    let revision = first
    for (const { readings, idempotency } of run.requests) {
      if (idempotency !== null) this.#appends.push({ stream, revision, recordedAt, idempotency })
      revision += countOf(readings)
    }
  }

  /** Of two uses of an idempotency key, the later one counts. After a failed flush, the same appends come again. */
  #write({ stream, revision, recordedAt, idempotency }: IdempotentAppend): void {
    const { keyHash, bodyHash, batch } = idempotency
    const batchJson = batch === null ? null : JSON.stringify(batch)
    const hashes = { key_hash: hashBytesOf(keyHash), body_hash: hashBytesOf(bodyHash) }
    const rest = { stream, revision, recorded_at: recordedAt, batch: batchJson }
    const checksum = appendChecksum({ ...hashes, ...rest })
    const insert = () =>
      this.#insert.run(hashes.key_hash, stream, revision, recordedAt, hashes.body_hash, batchJson, checksum)
    if (insert().changes === 0) {
      const older = this.#deleteOlder.all(hashes.key_hash, stream, revision)
      if (older.length === 0) return
      this.#total = older.reduce(withoutRow, this.#total)
      insert()
    }
    this.#total = totalWith(this.#total, checksum)
  }
}

const withoutRow = (total: RowsTotal, { checksum }: Deleted): RowsTotal => totalWithout(total, checksum)

const totalChecksum = (position: number, { count, sum }: RowsTotal): number => checksumOf(`${position} ${count} ${sum}`)

type TotalRow = {
  readonly position: number
  readonly append_count: number
  readonly append_sum: number
  readonly checksum: number
}

/** @throws ModelUnusable, SQLiteError */
const totalIn = (database: Database): RowsTotal => {
  const row = database.query<TotalRow, []>('SELECT position, append_count, append_sum, checksum FROM total').get()
  const head = readHead(database)
  if (row === null && head === null) return emptyTotal
  const total = { count: row?.append_count ?? 0, sum: row?.append_sum ?? 0 }
  if (row === null || row.position !== head?.position || totalChecksum(row.position, total) !== row.checksum) {
    throw new ModelUnusable('its row of "total" is missing, or does not match its checksum or the head')
  }
  return total
}

/**
 * `quick_check` finds pages that are used twice, which a later write would damage. Only the sum of all rows tells that a
 * row was deleted, or that its hash was changed.
 */
function* damageIn(database: Database): Generator<void, string | null> {
  const found = String(database.query('PRAGMA quick_check(1)').values()[0]?.[0])
  if (found !== 'ok') return found
  const total = totalIn(database)
  let read = emptyTotal
  let last: AppendRow | null = null
  using rows = database.prepare<AppendRow, []>(`SELECT ${appendColumns} FROM appends`)
  for (const row of rows.iterate()) {
    if (!isUndamaged(row)) return 'a row does not match its checksum'
    if (last !== null && !isBefore(last, row)) return 'its rows are not in order'
    last = row
    read = totalWith(read, row.checksum)
    if (read.count % rowsPerCheckStep === 0) yield
  }
  if (read.count !== total.count) return `it has ${read.count} rows, but must have ${total.count}`
  return read.sum === total.sum ? null : 'its rows do not match the sum of their checksums'
}

/** About 3 ms for each step. */
const rowsPerCheckStep = 4_096

/** `quick_check` does not compare rows without row ids, and a search finds no row that is out of order. */
const isBefore = (one: AppendRow, two: AppendRow): boolean => {
  const order = Buffer.compare(one.key_hash, two.key_hash)
  return order < 0 || (order === 0 && one.stream < two.stream)
}

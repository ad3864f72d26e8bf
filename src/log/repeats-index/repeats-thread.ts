/**
 * This thread writes the index of idempotency keys. On the event loop, its inserts and fsyncs would delay every
 * request. Only a thread may import this file, because the code below runs at import.
 */
import { Database, SQLiteError } from 'bun:sqlite'
import type { IdempotentAppend } from '../../domain/reading/idempotency-key.ts'
import { idempotencyForgottenAtOnceMax, storeBusyMsMax } from '../../limits.ts'
import { hashBytesOf } from '../codec/packed-idempotency.ts'
import { idempotencyVersion } from '../codec/upcast.ts'
import { IndexUnusable, type RepeatsChange } from '../repeats-index.ts'
import { emptyTotal, type RowsTotal, totalWith, totalWithout } from '../rows-total.ts'
import { isPassing } from '../sqlite/sqlite-faults.ts'
import { type AppendRow, appendChecksum, appendColumns, isUndamaged } from './append-checksum.ts'
import { readHead, writeHead } from './index-head.ts'
import type { FromRepeatsThread, RepeatsWork, ToRepeatsThread, WriteFault } from './repeats-writer.ts'

declare const self: Worker

let opened: ReturnType<typeof open> | null = null

self.onmessage = ({ data }: MessageEvent<ToRepeatsThread>): void => {
  if (data.kind === 'open') {
    opened = open(data.path)
    return
  }
  if (opened === null) throw new Error(`Cannot ${data.kind}: the thread has no file yet`)
  if (data.kind === 'close') {
    opened.close()
    opened = null
    answer('closed')
  } else answer({ fault: faultOf(opened, data) })
}

const answer = (message: FromRepeatsThread | 'closed'): void => self.postMessage(message)

/**
 * With `synchronous = NORMAL`, a power failure can lose the last changes. `foldedTo`, the event up to which the index is
 * complete, is written in the same transaction as the appends. So after a loss, the file names an older event, and the
 * node reads the log again from there.
 */
const open = (path: string) => {
  const database = new Database(path)
  database.run(`PRAGMA busy_timeout = ${storeBusyMsMax}`)
  database.run('PRAGMA synchronous = NORMAL')
  const insert = database.prepare(`
    INSERT INTO appends (${appendColumns}) VALUES (?, ?, ?, ?, ?, ?, ${idempotencyVersion}, ?)
      ON CONFLICT (key_hash, stream) DO NOTHING
  `)
  const deleteOlder = database.prepare<Deleted, [Uint8Array, string, number]>(
    'DELETE FROM appends WHERE key_hash = ? AND stream = ? AND revision < ? RETURNING checksum',
  )
  // The outer condition tests the row itself. A damaged entry of the index on times then deletes no newer row.
  const forget = database.prepare<Deleted, [number, number]>(`
    DELETE FROM appends WHERE recorded_at < ?1 AND (key_hash, stream) IN
      (SELECT key_hash, stream FROM appends WHERE recorded_at < ?1 ORDER BY recorded_at LIMIT ?2)
      RETURNING checksum
  `)
  /** Returns the sum with the append. Writes it only if the index knows no newer one. */
  const insertInto = (total: RowsTotal, { stream, revision, recordedAt, idempotency }: IdempotentAppend) => {
    const { keyHash, bodyHash, batch } = idempotency
    const batchJson = batch === null ? null : JSON.stringify(batch)
    const hashes = { key_hash: hashBytesOf(keyHash), body_hash: hashBytesOf(bodyHash) }
    const rest = { stream, revision, recorded_at: recordedAt, batch: batchJson, version: idempotencyVersion }
    const checksum = appendChecksum({ ...hashes, ...rest })
    const insertRow = () =>
      insert.run(hashes.key_hash, stream, revision, recordedAt, hashes.body_hash, batchJson, checksum)
    if (insertRow().changes > 0) return totalWith(total, checksum)
    const older = deleteOlder.all(hashes.key_hash, stream, revision)
    if (older.length === 0) return total
    insertRow()
    return totalWith(older.reduce(withoutRow, total), checksum)
  }
  const write = database.transaction(({ appends, foldedTo, forgetBeforeMs }: RepeatsChange) => {
    const head = readHead(database)
    const grown = appends.reduce(insertInto, head.total)
    // A change can delete more old appends than it adds, so that an index with too many old appends gets shorter.
    const forgotten = forget.all(forgetBeforeMs, appends.length + idempotencyForgottenAtOnceMax)
    const total = forgotten.reduce(withoutRow, grown)
    writeHead(database, { logId: head.logId, foldedTo: foldedTo ?? head.foldedTo, total })
  })
  const close = (): void => {
    for (const statement of [insert, deleteOlder, forget]) statement.finalize()
    database.close(true)
  }
  return { write, damage: () => damageOf(database), close }
}

type Deleted = { readonly checksum: number }

const withoutRow = (total: RowsTotal, { checksum }: Deleted): RowsTotal => totalWithout(total, checksum)

/**
 * Reads the whole file. `quick_check` finds pages that are used twice, which a later write would damage. Only the sum
 * of all rows tells that a row was deleted, or that its hash was changed.
 */
const damageOf = (database: Database): string | null => {
  const found = String(database.query('PRAGMA quick_check(1)').values()[0]?.[0])
  if (found !== 'ok') return found
  const { total } = readHead(database)
  let read = emptyTotal
  let last: AppendRow | null = null
  using rows = database.prepare<AppendRow, []>(`SELECT ${appendColumns} FROM appends`)
  for (const row of rows.iterate()) {
    if (!isUndamaged(row)) return 'a row does not match its checksum'
    if (last !== null && !isBefore(last, row)) return 'its rows are not in order'
    last = row
    read = totalWith(read, row.checksum)
  }
  if (read.count !== total.count) return `it has ${read.count} rows, but must have ${total.count}`
  return read.sum === total.sum ? null : 'its rows do not match the sum of their checksums'
}

/** `quick_check` does not compare rows of a table without row ids, and a search finds no row that is out of order. */
const isBefore = (one: AppendRow, two: AppendRow): boolean => {
  const order = Buffer.compare(one.key_hash, two.key_hash)
  return order < 0 || (order === 0 && one.stream < two.stream)
}

const faultOf = ({ write, damage }: ReturnType<typeof open>, work: RepeatsWork): WriteFault | null => {
  try {
    if (work.kind === 'write') {
      write.immediate(work.change)
      return null
    }
    const why = damage()
    return why === null ? null : { why, isPassing: false }
  } catch (cause) {
    if (cause instanceof IndexUnusable) return { why: cause.message, isPassing: false }
    if (!(cause instanceof SQLiteError)) throw cause
    return { why: cause.message, isPassing: isPassing(cause) }
  }
}

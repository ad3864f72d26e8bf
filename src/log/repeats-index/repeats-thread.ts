/**
 * This thread writes the index of idempotency keys. On the event loop, its inserts and fsyncs would delay every
 * request. Only a thread may import this file, because the code below runs at import.
 */
import { Database, SQLiteError } from 'bun:sqlite'
import { idempotencyForgottenAtOnceMax, storeBusyMsMax } from '../../limits.ts'
import { hashBytesOf } from '../codec/packed-idempotency.ts'
import { idempotencyVersion } from '../codec/upcast.ts'
import type { RepeatsChange } from '../repeats-index.ts'
import { appendChecksum } from './append-checksum.ts'
import {
  type FromRepeatsThread,
  isPassing,
  type RepeatsWork,
  type ToRepeatsThread,
  type WriteFault,
} from './repeats-writer.ts'

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
    INSERT INTO appends (key_hash, stream, revision, recorded_at, body_hash, batch, version, checksum)
      VALUES (?, ?, ?, ?, ?, ?, ${idempotencyVersion}, ?)
      ON CONFLICT (key_hash, stream) DO UPDATE
        SET revision = excluded.revision, recorded_at = excluded.recorded_at,
            body_hash = excluded.body_hash, batch = excluded.batch, version = excluded.version,
            checksum = excluded.checksum
        WHERE excluded.revision > revision
  `)
  // The outer condition tests the row itself. A damaged entry of the index on times then deletes no newer row.
  const forget = database.prepare(`
    DELETE FROM appends WHERE recorded_at < ?1 AND (key_hash, stream) IN
      (SELECT key_hash, stream FROM appends WHERE recorded_at < ?1 ORDER BY recorded_at LIMIT ?2)
  `)
  const foldTo = database.prepare('UPDATE folded SET position = ?, stream = ?, revision = ?, event_id = ?')
  const write = database.transaction(({ appends, foldedTo, forgetBeforeMs }: RepeatsChange) => {
    for (const { stream, revision, recordedAt, idempotency } of appends) {
      const { keyHash, bodyHash, batch } = idempotency
      const batchJson = batch === null ? null : JSON.stringify(batch)
      const hashes = { key_hash: hashBytesOf(keyHash), body_hash: hashBytesOf(bodyHash) }
      const rest = { stream, revision, recorded_at: recordedAt, batch: batchJson, version: idempotencyVersion }
      const checksum = appendChecksum({ ...hashes, ...rest })
      insert.run(hashes.key_hash, stream, revision, recordedAt, hashes.body_hash, batchJson, checksum)
    }
    // A change can delete more old appends than it adds, so that an index with too many old appends gets shorter.
    forget.run(forgetBeforeMs, appends.length + idempotencyForgottenAtOnceMax)
    if (foldedTo !== null) foldTo.run(foldedTo.position, foldedTo.stream, foldedTo.revision, foldedTo.id)
  })
  const close = (): void => {
    for (const statement of [insert, forget, foldTo]) statement.finalize()
    database.close(true)
  }
  const damage = (): string | null => {
    const found = String(database.query('PRAGMA quick_check(1)').values()[0]?.[0])
    return found === 'ok' ? null : found
  }
  return { write, damage, close }
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
    if (!(cause instanceof SQLiteError)) throw cause
    return { why: cause.message, isPassing: isPassing(cause) }
  }
}

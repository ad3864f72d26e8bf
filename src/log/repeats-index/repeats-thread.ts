/**
 * This thread writes the index of idempotency keys. On the event loop, its inserts and fsyncs would delay every
 * request. Only a thread may import this file, because the code below runs at import.
 */
import { Database, SQLiteError } from 'bun:sqlite'
import { idempotencyForgottenAtOnceMax, storeBusyMsMax } from '../../limits.ts'
import { hashBytesOf } from '../codec/packed-idempotency.ts'
import { idempotencyVersion } from '../codec/upcast.ts'
import type { RepeatsChange } from '../repeats-index.ts'
import { type FromRepeatsThread, isPassing, type ToRepeatsThread, type WriteFault } from './repeats-writer.ts'

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
  } else answer({ fault: faultOf(opened, data.change) })
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
    INSERT INTO appends (key_hash, stream, revision, recorded_at, body_hash, batch, version)
      VALUES (?, ?, ?, ?, ?, ?, ${idempotencyVersion})
      ON CONFLICT (key_hash, stream) DO UPDATE
        SET revision = excluded.revision, recorded_at = excluded.recorded_at,
            body_hash = excluded.body_hash, batch = excluded.batch, version = excluded.version
        WHERE excluded.revision > revision
  `)
  const forget = database.prepare(`
    DELETE FROM appends WHERE (key_hash, stream) IN
      (SELECT key_hash, stream FROM appends WHERE recorded_at < ? ORDER BY recorded_at LIMIT ?)
  `)
  const foldTo = database.prepare('UPDATE folded SET position = ?, stream = ?, revision = ?, event_id = ?')
  const write = database.transaction(({ appends, foldedTo, forgetBeforeMs }: RepeatsChange) => {
    for (const { stream, revision, recordedAt, idempotency } of appends) {
      const { keyHash, bodyHash, batch } = idempotency
      const batchJson = batch === null ? null : JSON.stringify(batch)
      insert.run(hashBytesOf(keyHash), stream, revision, recordedAt, hashBytesOf(bodyHash), batchJson)
    }
    // A change can delete more old appends than it adds, so that an index with too many old appends gets shorter.
    forget.run(forgetBeforeMs, appends.length + idempotencyForgottenAtOnceMax)
    if (foldedTo !== null) foldTo.run(foldedTo.position, foldedTo.stream, foldedTo.revision, foldedTo.id)
  })
  const close = (): void => {
    for (const statement of [insert, forget, foldTo]) statement.finalize()
    database.close(true)
  }
  return { write, close }
}

const faultOf = ({ write }: ReturnType<typeof open>, change: RepeatsChange): WriteFault | null => {
  try {
    write.immediate(change)
    return null
  } catch (cause) {
    if (!(cause instanceof SQLiteError)) throw cause
    return { why: cause.message, isPassing: isPassing(cause) }
  }
}

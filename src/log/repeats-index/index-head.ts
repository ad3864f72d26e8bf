/**
 * The only row of the table `folded`. It tells how far the index is folded, and it counts and sums the rows of `appends`.
 * Without the sum, a deleted row would leave no trace, and its request would be stored again.
 */
import type { Database, Statement } from 'bun:sqlite'
import { checksumOf } from '../../bytes/checksum.ts'
import type { FoldedTo } from '../../domain/log-reference.ts'
import { IndexUnusable } from '../repeats-index.ts'
import type { RowsTotal } from '../rows-total.ts'

export const headTable = `
  CREATE TABLE folded (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    log_id TEXT NOT NULL,
    position INTEGER,
    stream TEXT,
    revision INTEGER,
    event_id TEXT,
    append_count INTEGER NOT NULL,
    append_sum INTEGER NOT NULL,
    checksum INTEGER NOT NULL
  ) STRICT;
`

export type IndexHead = {
  /** Id of the log from which the index is built. */
  readonly logId: string
  readonly foldedTo: FoldedTo | null
  /** Of the rows of `appends`. */
  readonly total: RowsTotal
}

export type HeadRow = { readonly log_id: string; readonly append_count: number; readonly append_sum: number } & (
  | { readonly [column in 'position' | 'stream' | 'revision' | 'event_id']: null }
  | { readonly position: number; readonly stream: string; readonly revision: number; readonly event_id: string }
)
type StoredHead = HeadRow & { readonly checksum: number }

/** @throws IndexUnusable if the row is missing or damaged */
export const readHead = (database: Database): IndexHead => {
  const row = database.query<StoredHead, []>('SELECT * FROM folded WHERE id = 1').get()
  if (row === null || headChecksum(row) !== row.checksum) {
    throw new IndexUnusable('Cannot use a file whose row of "folded" is missing or does not match its checksum')
  }
  const total = { count: row.append_count, sum: row.append_sum }
  if (row.position === null) return { logId: row.log_id, foldedTo: null, total }
  const { position, stream, revision, event_id: id } = row
  return { logId: row.log_id, foldedTo: { position, stream, revision, id }, total }
}

export const writeHead = (database: Database, { logId, foldedTo, total }: IndexHead): void => {
  const { position, stream, revision, id } = foldedTo ?? { position: null, stream: null, revision: null, id: null }
  const columns = [logId, position, stream, revision, id, total.count, total.sum]
  const replace: Statement = database.query('REPLACE INTO folded VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)')
  replace.run(...columns, checksumOfColumns(columns))
}

export const headChecksum = (row: HeadRow): number => {
  const { log_id, position, stream, revision, event_id, append_count, append_sum } = row
  return checksumOfColumns([log_id, position, stream, revision, event_id, append_count, append_sum])
}

const checksumOfColumns = (columns: readonly (string | number | null)[]): number => checksumOf(JSON.stringify(columns))

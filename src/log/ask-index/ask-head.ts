/** The only row of the table `head`: how far the index is folded, and the totals of the other tables. */
import type { Database } from 'bun:sqlite'
import { checksumOf } from '../../bytes/checksum.ts'
import type { FoldedTo } from '../../domain/log-reference.ts'
import { AskUnusable } from '../ask-index.ts'
import { emptyTotal, type RowsTotal } from '../rows-total.ts'

export const askTables = ['names', 'places', 'minutes', 'minute_counts', 'hour_counts', 'seen'] as const
export type AskTable = (typeof askTables)[number]
export type AskTotals = Readonly<Record<AskTable, RowsTotal>>

export type AskHead = {
  /** Id of the log from which the index is built. */
  readonly logId: string
  readonly foldedTo: FoldedTo | null
  readonly totals: AskTotals
}

export const emptyTotals: AskTotals = {
  names: emptyTotal,
  places: emptyTotal,
  minutes: emptyTotal,
  minute_counts: emptyTotal,
  hour_counts: emptyTotal,
  seen: emptyTotal,
}

/** `totals` is JSON. */
type HeadRow = { readonly log_id: string; readonly totals: string; readonly checksum: number } & (
  | { readonly [column in 'position' | 'stream' | 'revision' | 'event_id']: null }
  | { readonly position: number; readonly stream: string; readonly revision: number; readonly event_id: string }
)

/** @throws AskUnusable if the row is missing or damaged */
export const readAskHead = (database: Database): AskHead => {
  const row = database.query<HeadRow, []>('SELECT * FROM head WHERE id = 1').get()
  if (row === null || headChecksum(row) !== row.checksum) {
    throw new AskUnusable('Cannot use ask.db: its head is missing or does not match its checksum')
  }
  const totals: AskTotals = JSON.parse(row.totals)
  if (row.position === null) return { logId: row.log_id, foldedTo: null, totals }
  const { position, stream, revision, event_id: id } = row
  return { logId: row.log_id, foldedTo: { position, stream, revision, id }, totals }
}

export const writeAskHead = (database: Database, { logId, foldedTo, totals }: AskHead): void => {
  const { position, stream, revision, id } = foldedTo ?? { position: null, stream: null, revision: null, id: null }
  const columns = [logId, position, stream, revision, id, JSON.stringify(totals)]
  database.query('REPLACE INTO head VALUES (1, ?, ?, ?, ?, ?, ?, ?)').run(...columns, checksumOfColumns(columns))
}

const headChecksum = ({ log_id, position, stream, revision, event_id, totals }: HeadRow): number =>
  checksumOfColumns([log_id, position, stream, revision, event_id, totals])

const checksumOfColumns = (columns: readonly (string | number | null)[]): number => checksumOf(JSON.stringify(columns))

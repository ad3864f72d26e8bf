/** Writes rows into the file of the embedded log without the log, as another program could. */
import type { Database } from 'bun:sqlite'
import { nameChecksumOf, rowChecksum } from '../../../src/log/sqlite/reads/row-checksum.ts'

export type PlainRow = { readonly count: number; readonly recordedAt: number; readonly body: string | Uint8Array }

/** Appends a row to a stream, which begins if it is new. The row has its checksum, as the log demands. */
export const appendPlainRow = (database: Database, stream: string, row: PlainRow): void => {
  if (database.query('SELECT 1 FROM streams WHERE name = ?').get(stream) === null) {
    database.run('INSERT INTO streams (id, name) SELECT coalesce(max(id), 0) + 1, ? FROM streams', [stream])
  }
  const place = database
    .query<{ id: number; position: number; revision: number }, [string]>(`
      SELECT id, (SELECT coalesce(max(position + count), 1) FROM events) AS position,
          (SELECT coalesce(max(revision + count), 0) FROM events WHERE stream = id) AS revision
        FROM streams WHERE name = ?
    `)
    .get(stream)
  if (place === null) throw new Error(`There is no stream "${stream}"`)
  const { id, position, revision } = place
  const checksum = rowChecksum({ ...row, stream: id, position, revision }, nameChecksumOf(stream))
  database.run(
    'INSERT INTO events (position, stream, revision, count, recorded_at, body, checksum) VALUES (?, ?, ?, ?, ?, ?, ?)',
    [position, id, revision, row.count, row.recordedAt, row.body, checksum],
  )
}

import type { Database } from 'bun:sqlite'

export type LogEnd = {
  /** `null`: the log has none yet, or it cannot be read. */
  readonly logId: string | null
  /** Both are 0 for a log without events. */
  readonly position: number
  readonly recordedAt: number
}

export const noEvents: LogEnd = { logId: null, position: 0, recordedAt: 0 }

/** @throws SQLiteError */
export const readLogEnd = (database: Database): LogEnd => {
  const tables = database.query<{ found: number }, []>(tablesQuery).get()
  if (tables?.found !== 2) return noEvents
  const last = database.query<{ position: number; recordedAt: number }, []>(lastRowQuery).get()
  return { logId: readStoredLogId(database), position: last?.position ?? 0, recordedAt: last?.recordedAt ?? 0 }
}

/** As `logIdOf` in `domain/log-reference.ts`, without the codec, which takes longer to load than the rest of this work. */
export const readStoredLogId = (database: Database): string | null => {
  let logId: string | null = null
  for (const { body } of database.query<{ body: string | Uint8Array }, []>(logStreamQuery).iterate()) {
    if (typeof body !== 'string') continue
    for (const [, found = ''] of body.matchAll(storedLogId)) logId = found
  }
  return logId
}

/** A person's text cannot match: JSON escapes its quotation marks. */
const storedLogId = /"(?:logId|copyId|restoredId)":"([0-9a-f-]{36})"/g

const tablesQuery = `SELECT count(*) AS found FROM sqlite_schema WHERE type = 'table' AND name IN ('streams', 'events')`
// The plain name would be the alias, and SQLite would read and sort the whole table.
const lastRowQuery = `
  SELECT position + count - 1 AS position, recorded_at AS recordedAt FROM events ORDER BY events.position DESC LIMIT 1
`
const logStreamQuery = `
  SELECT body FROM events JOIN streams ON streams.id = stream WHERE name = 'cellarbook-log' ORDER BY revision
`

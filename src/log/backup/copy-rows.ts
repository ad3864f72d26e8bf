/**
 * Copies a log that grows meanwhile, in short reads. A service can empty its write-ahead log between two of them, however
 * long the copy takes. Rows are only appended, and deleted only after a truncation. So the last read takes the last rows and
 * all truncations, and the copy then equals the log at that moment (docs/decisions/035-a-backup-copies-rows.md).
 */
import { constants, Database } from 'bun:sqlite'
import { pathToFileURL } from 'node:url'
import { storeBusyMsMax } from '../../limits.ts'
import { tablesSchema, triggersSchema } from '../sqlite/schema.ts'
import { markAsOurs, pageBytes } from '../sqlite/sqlite-file.ts'

/** In one read. It takes about 50 ms, and at most 18 MB of the longest readings. */
export const copiedPositionsPerStep = 16_384
/** The index of revisions is written in the last page of each stream. With less, these pages are read again and again. */
const copyCacheBytes = 64 * 1024 * 1024

/** From 0 to 1, by positions. */
export type CopyStep = { readonly position: number; readonly share: number }

/** `target` is an empty file. Between two steps, nothing of the log is locked. @throws SQLiteError */
export function* copyRows(logPath: string, target: string): Generator<CopyStep, void> {
  using copy = openCopy(target, logPath)
  const statements = prepare(copy)
  for (let after = 0; ; ) {
    const end = statements.lastPosition.get()?.position ?? 0
    const next = statements.nextPosition.get(after)?.position ?? end
    const to = next + copiedPositionsPerStep
    if (to > end) break
    statements.copyEvents.run(after, to)
    after = to
    yield { position: to, share: to / end }
  }
  copy.run('BEGIN')
  copyEnd(copy)
  copy.run(triggersSchema)
  markAsOurs(copy)
  copy.run('COMMIT')
}

/** The file is worthless until it is complete, so no journal and no fsync keeps its transactions. */
const openCopy = (target: string, logPath: string): Database => {
  const copy = new Database(target, constants.SQLITE_OPEN_READWRITE | constants.SQLITE_OPEN_URI)
  copy.run(`PRAGMA busy_timeout = ${storeBusyMsMax}`)
  copy.run(`PRAGMA page_size = ${pageBytes}`)
  copy.run(`PRAGMA cache_size = ${-copyCacheBytes / 1024}`)
  copy.run('PRAGMA journal_mode = MEMORY')
  copy.run('PRAGMA synchronous = OFF')
  // Deleted rows can hold personal data.
  copy.run('PRAGMA secure_delete = ON')
  copy.run(tablesSchema)
  // Read-only, so that closing it copies no write-ahead log.
  copy.prepare('ATTACH ? AS log').run(`${pathToFileURL(logPath).href}?mode=ro`)
  return copy
}

const columns = 'position, stream, revision, count, recorded_at, body, checksum'

const prepare = (copy: Database) => ({
  lastPosition: copy.prepare<{ position: number }, []>(
    'SELECT position FROM log.events ORDER BY position DESC LIMIT 1',
  ),
  nextPosition: copy.prepare<{ position: number }, [number]>(
    'SELECT position FROM log.events WHERE position > ? ORDER BY position LIMIT 1',
  ),
  copyEvents: copy.prepare<unknown, [number, number]>(`
    INSERT INTO main.events (${columns})
      SELECT ${columns} FROM log.events WHERE position > ? AND position <= ? ORDER BY position
  `),
})

/** Rows that were copied and then purged are deleted. A purge begins with the first row of a stream. */
const copyEnd = (copy: Database): void => {
  copy.run(`
    INSERT INTO main.events (${columns})
      SELECT ${columns} FROM log.events
        WHERE position > coalesce((SELECT position FROM main.events ORDER BY position DESC LIMIT 1), 0) ORDER BY position
  `)
  copy.run('INSERT INTO main.streams (id, name) SELECT id, name FROM log.streams ORDER BY id')
  copy.run('INSERT INTO main.truncations SELECT stream, kept_from, checksum FROM log.truncations ORDER BY stream')
  copy.run(`
    DELETE FROM main.events WHERE position IN (
      SELECT copied.position FROM log.truncations AS mark JOIN main.events AS copied
        ON copied.stream = mark.stream AND copied.revision <
          (SELECT revision FROM log.events WHERE stream = mark.stream ORDER BY revision LIMIT 1)
    )
  `)
}

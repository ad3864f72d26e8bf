/**
 * The file of the embedded log: its form, how it is opened, and what the database itself refuses.
 *
 * A row is what one append wrote: a run of events of one stream. `position` and `revision` are those of its first event;
 * the event after it has the next of both.
 */
import { Database, SQLiteError } from 'bun:sqlite'
import { storeBusyMsMax, storeReadCacheBytes, storeWriteCacheBytes } from '../../limits.ts'
import { NewerLogFormat, NotACellarbookLog } from '../data-folder.ts'
import { Outage } from '../event-log.ts'

/** "Clrb", so that `file` and others can tell what it is. */
const applicationId = 0x436c7262
/**
 * Each commit writes whole pages: of the index of streams and revisions, one for every key in the group. Halved from
 * SQLite's 4,096, a group of 64 keys commits a fifth faster and writes half as much, for 2 bytes more per reading.
 */
export const pageBytes = 2_048

const tables = `
  CREATE TABLE streams (
    id INTEGER PRIMARY KEY CHECK (id > 0),
    name TEXT NOT NULL UNIQUE
  ) STRICT;
  CREATE TABLE events (
    position INTEGER PRIMARY KEY CHECK (position > 0),
    stream INTEGER NOT NULL,
    revision INTEGER NOT NULL CHECK (revision >= 0),
    count INTEGER NOT NULL CHECK (count > 0),
    recorded_at INTEGER NOT NULL,
    body ANY NOT NULL CHECK (typeof(body) IN ('text', 'blob')),
    UNIQUE (stream, revision)
  ) STRICT;
`

// A REPLACE deletes without firing the triggers on DELETE, unless its own connection has asked for that. So what could be
// replaced is refused before it is inserted: whatever overlaps anything that is there.
const triggers = `
  CREATE TRIGGER streams_are_appended BEFORE INSERT ON streams BEGIN
    SELECT RAISE(ABORT, 'append-only: this stream is there already')
      WHERE NEW.id <= (SELECT max(id) FROM streams) OR EXISTS (SELECT 1 FROM streams WHERE name = NEW.name);
  END;
  CREATE TRIGGER streams_stay BEFORE DELETE ON streams BEGIN
    SELECT RAISE(ABORT, 'append-only: a stream is never deleted');
  END;
  CREATE TRIGGER streams_stay_as_they_are BEFORE UPDATE ON streams BEGIN
    SELECT RAISE(ABORT, 'append-only: a stream is never changed');
  END;
  CREATE TRIGGER events_are_appended BEFORE INSERT ON events BEGIN
    SELECT RAISE(ABORT, 'append-only: not after the last position')
      WHERE NEW.position < (SELECT position + count FROM events ORDER BY position DESC LIMIT 1);
    SELECT RAISE(ABORT, 'append-only: not the next revision of its stream')
      WHERE NEW.revision <> (SELECT revision + count FROM events WHERE stream = NEW.stream ORDER BY revision DESC LIMIT 1);
    SELECT RAISE(ABORT, 'append-only: no such stream')
      WHERE NOT EXISTS (SELECT 1 FROM streams WHERE id = NEW.stream);
  END;
  CREATE TRIGGER events_stay BEFORE DELETE ON events BEGIN
    SELECT RAISE(ABORT, 'append-only: an event is never deleted');
  END;
  CREATE TRIGGER events_stay_as_they_are BEFORE UPDATE ON events BEGIN
    SELECT RAISE(ABORT, 'append-only: an event is never changed');
  END;
`

// Retention: where a stream of readings begins. A row goes only when the whole of it lies below that mark, and the mark
// only grows and leaves the last event, on any connection.
const truncations = `
  CREATE TABLE truncations (
    stream INTEGER PRIMARY KEY,
    kept_from INTEGER NOT NULL CHECK (kept_from > 0)
  ) STRICT;
  CREATE TRIGGER truncations_are_of_readings BEFORE INSERT ON truncations BEGIN
    SELECT RAISE(ABORT, 'append-only: this stream has its mark already')
      WHERE EXISTS (SELECT 1 FROM truncations WHERE stream = NEW.stream);
    SELECT RAISE(ABORT, 'append-only: only readings may go')
      WHERE NOT EXISTS (SELECT 1 FROM streams WHERE id = NEW.stream AND name GLOB 'readings-*');
    SELECT RAISE(ABORT, 'append-only: the last event stays')
      WHERE NEW.kept_from >= coalesce(
        (SELECT revision + count FROM events WHERE stream = NEW.stream ORDER BY revision DESC LIMIT 1), 0);
  END;
  CREATE TRIGGER truncations_grow BEFORE UPDATE ON truncations BEGIN
    SELECT RAISE(ABORT, 'append-only: the mark of a stream only grows')
      WHERE NEW.stream <> OLD.stream OR NEW.kept_from <= OLD.kept_from;
    SELECT RAISE(ABORT, 'append-only: the last event stays')
      WHERE NEW.kept_from >= (
        SELECT revision + count FROM events WHERE stream = NEW.stream ORDER BY revision DESC LIMIT 1);
  END;
  CREATE TRIGGER truncations_stay BEFORE DELETE ON truncations BEGIN
    SELECT RAISE(ABORT, 'append-only: the mark of a stream is never deleted');
  END;
  DROP TRIGGER events_stay;
  CREATE TRIGGER events_stay BEFORE DELETE ON events BEGIN
    SELECT RAISE(ABORT, 'append-only: an event above the mark of its stream is never deleted')
      WHERE OLD.revision + OLD.count > coalesce((SELECT kept_from FROM truncations WHERE stream = OLD.stream), 0);
  END;
`

/** What leads from each format to the next: a new file takes all the steps. */
const steps = [`${tables}${triggers}`, truncations]
const formatVersion = steps.length

/**
 * Makes the file if it is missing, settles what a stopped process left, and opens it to read what is committed.
 * @throws NotACellarbookLog, NewerLogFormat, Outage
 */
export const openForReading = (path: string): Database =>
  open(path, (database) => {
    assertOurs(database, path)
    configure(database, storeReadCacheBytes)
    bringUpToDate(database, formOf(database).version)
    settleWriteAheadLog(database, path)
    database.run('PRAGMA query_only = ON')
  })

/** Of a file that was opened for reading before. @throws Outage */
export const openForWriting = (path: string): Database =>
  open(path, (database) => configure(database, storeWriteCacheBytes))

const open = (path: string, prepare: (database: Database) => void): Database => {
  const database = new Database(path)
  try {
    prepare(database)
    return database
  } catch (cause) {
    database.close(true)
    if (!(cause instanceof SQLiteError)) throw cause
    const reason = cause.code === 'SQLITE_FULL' ? 'full' : 'unavailable'
    throw new Outage(`Cannot open "${path}": ${cause.message}`, 'not_written', reason, { cause })
  }
}

const formOf = (database: Database) => {
  const form = database.query<Form, []>(formQuery).get()
  if (form === null) throw new Error('Cannot happen: SQLite says nothing of a file')
  return { applicationId: form.application_id, version: form.user_version, isEmpty: form.tables === 0 }
}

type Form = { application_id: number; user_version: number; tables: number }
const formQuery = `
  SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema) AS tables
    FROM pragma_application_id, pragma_user_version
`

const assertOurs = (database: Database, path: string): void => {
  let form: ReturnType<typeof formOf>
  try {
    form = formOf(database)
  } catch (cause) {
    if (!(cause instanceof SQLiteError) || cause.code !== 'SQLITE_NOTADB') throw cause
    throw new NotACellarbookLog(`Cannot open "${path}" as a log: it is not a database`, { cause })
  }
  const isFresh = form.isEmpty && form.applicationId === 0 && form.version === 0
  if (!isFresh && form.applicationId !== applicationId) {
    throw new NotACellarbookLog(`Cannot open "${path}" as a log: it is a database of another program`)
  }
  if (form.version > formatVersion) {
    const formats = `it has format ${form.version}, and this version knows up to ${formatVersion}`
    throw new NewerLogFormat(`Cannot open "${path}": ${formats}. Run the version that wrote it, or a newer one`)
  }
}

const configure = (database: Database, cacheBytes: number): void => {
  database.run(`PRAGMA busy_timeout = ${storeBusyMsMax}`)
  // Of a file that has its form already this changes nothing.
  database.run(`PRAGMA page_size = ${pageBytes}`)
  const mode = database.query<{ journal_mode: string }, []>('PRAGMA journal_mode = WAL').get()
  if (mode?.journal_mode !== 'wal') {
    throw new Outage('Cannot open the log: its disk allows no write-ahead log', 'not_written', 'unavailable')
  }
  database.run('PRAGMA synchronous = FULL')
  database.run(`PRAGMA cache_size = ${-cacheBytes / 1024}`)
  // The log checkpoints by itself, behind the answers and where a failure is seen.
  database.run('PRAGMA wal_autocheckpoint = 0')
}

const bringUpToDate = (database: Database, version: number): void => {
  if (version === formatVersion) return
  database.run('BEGIN IMMEDIATE')
  for (const step of steps.slice(version)) database.run(step)
  database.run(`PRAGMA application_id = ${applicationId}`)
  database.run(`PRAGMA user_version = ${formatVersion}`)
  database.run('COMMIT')
}

/**
 * What a killed process left in the write-ahead log may never have reached the disk, though it can be read: its fsync may
 * have failed. A checkpoint writes it once more and syncs it, so that "already written" is true from then on.
 */
const settleWriteAheadLog = (database: Database, path: string): void => {
  if (!checkpoint(database, 'FULL').isBlocked) return
  const why =
    'another program is in the middle of reading or writing it, and what a stopped process left must be settled'
  throw new Outage(`Cannot open "${path}": ${why}`, 'not_written', 'unavailable')
}

export type Checkpoint = {
  /** Somebody else's reading or writing kept it from its end. */
  readonly isBlocked: boolean
  /** In the write-ahead log, and how many of them are copied into the file. */
  readonly pages: number
  readonly copied: number
}

/** `NOOP` only counts. */
export const checkpoint = (database: Database, mode: 'NOOP' | 'PASSIVE' | 'FULL'): Checkpoint => {
  const row = database.query<CheckpointRow, []>(`PRAGMA wal_checkpoint(${mode})`).get()
  if (row === null) throw new Error('Cannot happen: SQLite says nothing of a checkpoint')
  return { isBlocked: row.busy !== 0, pages: row.log, copied: row.checkpointed }
}

type CheckpointRow = { busy: number; log: number; checkpointed: number }

/**
 * The SQL schema of the log's file. A row of `events` holds consecutive events of one stream that were appended
 * together. `position` and `revision` of a row belong to its first event.
 */
import { Database, SQLiteError } from 'bun:sqlite'
import { schemaDifferencesMax, schemaNameCharsMax } from '../../limits.ts'

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

// The triggers refuse to change or delete stored events. The INSERT triggers are needed because `INSERT OR REPLACE`
// deletes an existing row without firing the DELETE triggers.
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

// Events of a stream before revision `kept_from` are truncated: reads hide them. A row can be deleted only if all its
// events are truncated. `kept_from` can only grow, so a truncated event stays hidden.
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

// This upgrade of the schema allows truncating records, such as sign-ins, and not only readings
// (docs/decisions/007-records-decide-nothing.md).
const purgeableRecords = `
  DROP TRIGGER IF EXISTS truncations_are_of_readings;
  CREATE TRIGGER truncations_are_of_purgeable_streams BEFORE INSERT ON truncations BEGIN
    SELECT RAISE(ABORT, 'append-only: this stream has its mark already')
      WHERE EXISTS (SELECT 1 FROM truncations WHERE stream = NEW.stream);
    SELECT RAISE(ABORT, 'append-only: only readings and records may go')
      WHERE NOT EXISTS (
        SELECT 1 FROM streams WHERE id = NEW.stream AND (
          name GLOB 'readings-*' OR name GLOB 'refusals-*' OR name GLOB 'signins-*' OR
          name GLOB 'exports-*' OR name GLOB 'proofs-*'));
    SELECT RAISE(ABORT, 'append-only: the last event stays')
      WHERE NEW.kept_from >= coalesce(
        (SELECT revision + count FROM events WHERE stream = NEW.stream ORDER BY revision DESC LIMIT 1), 0);
  END;
`

// Rows carry a checksum from position `since` on (docs/decisions/031-rows-carry-a-checksum.md). An older version has
// written the rows before it. It can have left out positions after a failed read: `missing` is their number.
const checksums = `
  ALTER TABLE events ADD COLUMN checksum INTEGER;
  ALTER TABLE truncations ADD COLUMN checksum INTEGER;
  CREATE TABLE checksums (since INTEGER NOT NULL, missing INTEGER NOT NULL) STRICT;
  INSERT INTO checksums SELECT next, next - 1 - appended FROM (SELECT
    coalesce((SELECT position + count FROM events ORDER BY position DESC LIMIT 1), 1) AS next,
    coalesce((SELECT sum(
      (SELECT revision + count FROM events WHERE stream = streams.id ORDER BY revision DESC LIMIT 1)
    ) FROM streams), 0) AS appended);
  CREATE TRIGGER checksums_are_made_once BEFORE INSERT ON checksums BEGIN
    SELECT RAISE(ABORT, 'append-only: the position of the first checksum is there already');
  END;
  CREATE TRIGGER checksums_stay BEFORE DELETE ON checksums BEGIN
    SELECT RAISE(ABORT, 'append-only: the position of the first checksum is never deleted');
  END;
  CREATE TRIGGER checksums_stay_as_they_are BEFORE UPDATE ON checksums BEGIN
    SELECT RAISE(ABORT, 'append-only: the position of the first checksum is never changed');
  END;
  CREATE TRIGGER events_have_checksums BEFORE INSERT ON events WHEN NEW.checksum IS NULL BEGIN
    SELECT RAISE(ABORT, 'append-only: a row needs its checksum');
  END;
`

// A start reads all events that are no readings (`reads/read-beginning.ts`). Only readings are stored as bytes.
const texts = `
  CREATE INDEX texts ON events (position, stream) WHERE typeof(body) = 'text';
`

/** False in a file of an older format, and in one whose changed schema a person has accepted. */
export const canUseTexts = (database: Database): boolean => {
  try {
    database.prepare("SELECT 1 FROM events INDEXED BY texts WHERE typeof(body) = 'text'").finalize()
    return true
  } catch (cause) {
    if (cause instanceof SQLiteError && cause.code === 'SQLITE_ERROR') return false
    throw cause
  }
}

/**
 * Each step upgrades the file to the next format. Never change a step, not even by a space. The schema of each file is
 * compared with these steps, so existing files would be refused as changed.
 */
const steps: readonly string[] = [`${tables}${triggers}`, truncations, purgeableRecords, checksums, texts]
export const formatVersion = steps.length

export const stepsFrom = (version: number): readonly string[] => steps.slice(version)

/**
 * Compares the file's schema with that of format `version`. Returns the differences as text for people: each means that
 * somebody has changed the file.
 */
export const schemaDifferences = (database: Database, version: number): readonly string[] => {
  using model = new Database(':memory:')
  for (const step of steps.slice(0, version)) model.run(step)
  const expected = schemaOf(model)
  const found = schemaOf(database)
  const differences: string[] = []
  for (const [name, sql] of expected) {
    if (!found.has(name)) differences.push(`${name} is missing`)
    else if (found.get(name) !== sql) differences.push(`${name} is changed`)
  }
  for (const name of found.keys()) if (!expected.has(name)) differences.push(`${printable(name)} was added`)
  return bounded(differences)
}

type SchemaObject = { readonly type: string; readonly name: string; readonly sql: string | null }

/** SQLite itself makes these tables when a person runs `ANALYZE`. */
export const statisticsTables = "'sqlite_stat1', 'sqlite_stat4'"

/**
 * Maps the type and name of each object to its SQL, because a trigger and a table can have the same name. The SQL is
 * `null` for indexes that SQLite makes itself.
 */
const schemaOf = (database: Database): ReadonlyMap<string, string | null> => {
  const objects = database
    .query<SchemaObject, []>(`
      SELECT type, name, sql FROM sqlite_schema WHERE name NOT IN (${statisticsTables}) ORDER BY type, name
    `)
    .all()
  return new Map(objects.map(({ type, name, sql }) => [`${type} ${name}`, sql]))
}

/** Somebody who changed the file chose this name. Control characters in it could change what a terminal shows. */
const printable = (name: string): string => name.slice(0, schemaNameCharsMax).replaceAll(/[^A-Za-z0-9_. -]/g, '?')

const bounded = (differences: readonly string[]): readonly string[] => {
  if (differences.length <= schemaDifferencesMax) return differences
  const shown = differences.slice(0, schemaDifferencesMax - 1)
  return [...shown, `${differences.length - shown.length} more`]
}

/**
 * A row holds consecutive events of one stream; `position` and `revision` are the first one's
 * (docs/decisions/003-one-row-for-each-append.md).
 */
import { Database, SQLiteError } from 'bun:sqlite'
import { purgeableCategories } from '../../domain/stream-names.ts'

export const schemaDifferencesMax = 20
export const schemaNameCharsMax = 80

/** Raise it with each change of the schema. A file of another format is refused. */
export const formatVersion = 7

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
    checksum INTEGER NOT NULL,
    UNIQUE (stream, revision)
  ) STRICT;
`

// `kept_from` only grows, so truncated events stay hidden. A row can be deleted only if all its events are truncated.
const truncations = `
  CREATE TABLE truncations (
    stream INTEGER PRIMARY KEY,
    kept_from INTEGER NOT NULL CHECK (kept_from > 0),
    checksum INTEGER NOT NULL
  ) STRICT;
`

// For `reads/read-beginning.ts`. Only readings are stored as bytes.
const texts = `
  CREATE INDEX texts ON events (position, stream) WHERE typeof(body) = 'text';
`

const purgeable = purgeableCategories.map((category) => `name GLOB '${category}-*'`).join(' OR ')

// `INSERT OR REPLACE` fires no DELETE triggers, so INSERT has triggers, too
// (docs/decisions/005-the-database-refuses-change.md).
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
    SELECT RAISE(ABORT, 'append-only: an event above the mark of its stream is never deleted')
      WHERE OLD.revision + OLD.count > coalesce((SELECT kept_from FROM truncations WHERE stream = OLD.stream), 0);
  END;
  CREATE TRIGGER events_stay_as_they_are BEFORE UPDATE ON events BEGIN
    SELECT RAISE(ABORT, 'append-only: an event is never changed');
  END;
  CREATE TRIGGER truncations_are_of_purgeable_streams BEFORE INSERT ON truncations BEGIN
    SELECT RAISE(ABORT, 'append-only: this stream has its mark already')
      WHERE EXISTS (SELECT 1 FROM truncations WHERE stream = NEW.stream);
    SELECT RAISE(ABORT, 'append-only: only readings and records may go')
      WHERE NOT EXISTS (SELECT 1 FROM streams WHERE id = NEW.stream AND (${purgeable}));
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
`

export const tablesSchema = `${tables}${truncations}${texts}`
export const triggersSchema = triggers
export const schema = `${tablesSchema}${triggersSchema}`

/** False if a person has accepted a missing or changed index. */
export const canUseTexts = (database: Database): boolean => {
  try {
    database.prepare("SELECT 1 FROM events INDEXED BY texts WHERE typeof(body) = 'text'").finalize()
    return true
  } catch (cause) {
    if (cause instanceof SQLiteError && cause.code === 'SQLITE_ERROR') return false
    throw cause
  }
}

/** For people. Each means that somebody has changed the file. */
export const schemaDifferences = (database: Database): readonly string[] => {
  using model = new Database(':memory:')
  model.run(schema)
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

/** SQLite makes these tables when a person runs `ANALYZE`. */
export const statisticsTables = "'sqlite_stat1', 'sqlite_stat4'"

/** By type, too: a trigger and a table can have the same name. `null`: SQLite made the index. */
const schemaOf = (database: Database): ReadonlyMap<string, string | null> => {
  const objects = database
    .query<SchemaObject, []>(`
      SELECT type, name, sql FROM sqlite_schema WHERE name NOT IN (${statisticsTables}) ORDER BY type, name
    `)
    .all()
  return new Map(objects.map(({ type, name, sql }) => [`${type} ${name}`, sql]))
}

/** Somebody chose this name; control characters could change what a terminal shows. */
const printable = (name: string): string => name.slice(0, schemaNameCharsMax).replaceAll(/[^A-Za-z0-9_. -]/g, '?')

const bounded = (differences: readonly string[]): readonly string[] => {
  if (differences.length <= schemaDifferencesMax) return differences
  const shown = differences.slice(0, schemaDifferencesMax - 1)
  return [...shown, `${differences.length - shown.length} more`]
}

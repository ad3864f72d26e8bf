import { askPeakHoursMax } from '../../limits.ts'

/**
 * Columns with a text contain its `id` of the table `names`, so that a row is small. An index ends with the rowid, so each
 * index of `places` is in the order of positions. `hour_counts` begins with the hour, so that a flush of 10,000 keys writes
 * neighbouring rows.
 */

/** A file of another format is deleted and built again. */
export const formatVersion = 4

/** The `cellar` of `minute_counts` for all cellars together. No row of `names` has this id. */
export const allCellars = 0

/** This name is the first row of `names`, so that indexes can leave out its number. */
export const acceptedCode = 1
export const acceptedName = 'accepted'

/**
 * `peaks` has the busiest minute of each hour of a key in its last two days. Hours before one that is as busy are left out. So
 * a few rows of a key say its busiest minute of a day, and the counts of 24 hours need not be read.
 */
const higherPeak = `
  DELETE FROM peaks WHERE cellar = new.cellar AND key = new.key AND hour <= new.hour
    AND (busiest <= new.busiest OR hour < new.hour - ${askPeakHoursMax});
  INSERT INTO peaks VALUES (new.cellar, new.key, new.hour, new.busiest);
`

export const tables = `
  CREATE TABLE names (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
  CREATE UNIQUE INDEX names_of_text ON names (name);
  INSERT INTO names VALUES (${acceptedCode}, '${acceptedName}');

  CREATE TABLE places (
    position INTEGER PRIMARY KEY,
    recorded_at INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    type INTEGER NOT NULL,
    actor INTEGER NOT NULL,
    key INTEGER,
    cellar INTEGER,
    stream INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    event_number INTEGER NOT NULL,
    request_number INTEGER,
    first_at INTEGER,
    last_at INTEGER
  ) STRICT;
  CREATE INDEX places_of_kind ON places (kind);
  CREATE INDEX places_of_type ON places (type);
  CREATE INDEX places_of_actor ON places (actor, type);
  CREATE INDEX places_of_key ON places (key, type) WHERE key IS NOT NULL;
  CREATE INDEX places_of_cellar ON places (cellar, type) WHERE cellar IS NOT NULL;
  CREATE INDEX places_of_actor_in_cellar ON places (actor, cellar, type) WHERE cellar IS NOT NULL;
  CREATE INDEX places_of_stream ON places (stream, revision);
  CREATE INDEX places_of_event ON places (event_number);
  CREATE INDEX places_of_request ON places (request_number) WHERE request_number IS NOT NULL;

  CREATE TABLE minutes (minute INTEGER PRIMARY KEY, position INTEGER NOT NULL) STRICT;

  CREATE TABLE minute_counts (
    cellar INTEGER NOT NULL,
    minute INTEGER NOT NULL,
    code INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (cellar, minute, code)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE hour_counts (
    key INTEGER NOT NULL,
    hour INTEGER NOT NULL,
    code INTEGER NOT NULL,
    cellar INTEGER NOT NULL,
    count INTEGER NOT NULL,
    minute INTEGER NOT NULL,
    in_minute INTEGER NOT NULL,
    busiest INTEGER NOT NULL,
    PRIMARY KEY (hour, key, code)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX refusals_of_cellar ON hour_counts (cellar, hour) WHERE code <> ${acceptedCode};

  CREATE TABLE peaks (
    cellar INTEGER NOT NULL,
    key INTEGER NOT NULL,
    hour INTEGER NOT NULL,
    busiest INTEGER NOT NULL,
    PRIMARY KEY (cellar, key, hour)
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER first_peak AFTER INSERT ON hour_counts WHEN new.busiest > 0 BEGIN ${higherPeak} END;
  CREATE TRIGGER higher_peak AFTER UPDATE OF busiest ON hour_counts WHEN new.busiest > old.busiest BEGIN ${higherPeak} END;
  CREATE TRIGGER no_peak AFTER DELETE ON hour_counts WHEN old.busiest > 0 BEGIN
    DELETE FROM peaks WHERE cellar = old.cellar AND key = old.key AND hour = old.hour;
  END;

  CREATE TABLE seen (
    key INTEGER NOT NULL,
    rack TEXT NOT NULL,
    minute INTEGER NOT NULL,
    PRIMARY KEY (key, rack)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE seen_from (id INTEGER PRIMARY KEY CHECK (id = 1), minute INTEGER NOT NULL) STRICT;
`

/**
 * Columns with a text contain its `id` of the table `names`, so that a row is small. An index ends with the rowid, so each
 * index of `places` is in the order of positions.
 */

/** A file of another format is deleted and built again. */
export const formatVersion = 3

/** The `cellar` of `minute_counts` for all cellars together. No row of `names` has this id. */
export const allCellars = 0

/** This name is the first row of `names`, so that indexes can leave out its number. */
export const acceptedCode = 1
export const acceptedName = 'accepted'

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
    PRIMARY KEY (key, hour, code)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX refusals_of_cellar ON hour_counts (cellar, hour) WHERE code <> ${acceptedCode};

  CREATE TABLE seen (
    key INTEGER NOT NULL,
    rack TEXT NOT NULL,
    minute INTEGER NOT NULL,
    PRIMARY KEY (key, rack)
  ) STRICT, WITHOUT ROWID;
`

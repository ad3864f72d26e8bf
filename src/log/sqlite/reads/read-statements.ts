import type { Database } from 'bun:sqlite'
import type { Row } from './row-checksum.ts'

export const columns = 'position, stream, revision, count, recorded_at AS recordedAt, body, checksum'

export type ReadStatements = ReturnType<typeof prepareReads>

export const prepareReads = (database: Database) => ({
  pages: database.prepare<{ page_count: number }, []>('PRAGMA page_count'),
  freePages: database.prepare<{ freelist_count: number }, []>('PRAGMA freelist_count'),
  pageSize: database.prepare<{ page_size: number }, []>('PRAGMA page_size'),
  lastRow: database.prepare<Row, []>(`SELECT ${columns} FROM events ORDER BY position DESC LIMIT 1`),
  nextStream: database.prepare<{ next_stream: number | null }, []>('SELECT max(id) + 1 AS next_stream FROM streams'),
  lastRowOfStream: database.prepare<Row, [number]>(
    `SELECT ${columns} FROM events WHERE stream = ? ORDER BY revision DESC LIMIT 1`,
  ),
  endBefore: database.prepare<{ next_revision: number }, [number, number]>(
    'SELECT revision + count AS next_revision FROM events WHERE stream = ? AND revision < ? ORDER BY revision DESC LIMIT 1',
  ),
  startFrom: database.prepare<{ revision: number }, [number, number]>(
    'SELECT revision FROM events WHERE stream = ? AND revision >= ? ORDER BY revision LIMIT 1',
  ),
  anyTruncation: database.prepare<{ stream: number }, []>('SELECT stream FROM truncations LIMIT 1'),
  stream: database.prepare<{ name: string; kept_from: number | null; checksum: number | null }, [number]>(
    'SELECT name, kept_from, checksum FROM streams LEFT JOIN truncations ON stream = id WHERE id = ?',
  ),
  // Begins with the row that contains revision ?2.
  streamForwards: database.prepare<Row, [number, number]>(`
    SELECT ${columns} FROM events WHERE stream = ?1
      AND revision >= coalesce((SELECT max(revision) FROM events WHERE stream = ?1 AND revision <= ?2), 0)
      ORDER BY revision
  `),
  streamBackwards: database.prepare<Row, [number, number, number]>(`
    SELECT ${columns} FROM events WHERE stream = ?1 AND revision <= ?2
      AND revision >= coalesce((SELECT max(revision) FROM events WHERE stream = ?1 AND revision <= ?3), 0)
      ORDER BY revision DESC
  `),
  firstRow: database.prepare<{ position: number; next_revision: number }, [number]>(
    'SELECT position, revision + count AS next_revision FROM events WHERE stream = ? ORDER BY revision LIMIT 1',
  ),
  streams: database.prepare<{ streams: number }, []>('SELECT count(*) AS streams FROM streams'),
  streamWithoutRows: database.prepare<{ name: string }, []>(
    'SELECT name FROM streams WHERE NOT EXISTS (SELECT 1 FROM events WHERE stream = streams.id) LIMIT 1',
  ),
  allForwards: database.prepare<Row, [number]>(`
    SELECT ${columns} FROM events
      WHERE position >= coalesce((SELECT max(position) FROM events WHERE position <= ?), 0) ORDER BY position
  `),
  /** `keptFrom` is from the same moment as the row. `null`: nothing is truncated. */
  sourceForwards: database.prepare<Row & { readonly keptFrom: number | null }, [number]>(`
    SELECT position, events.stream, revision, count, recorded_at AS recordedAt, body, events.checksum, kept_from AS keptFrom
      FROM events LEFT JOIN truncations ON truncations.stream = events.stream WHERE position > ? ORDER BY position
  `),
  rowUpTo: database.prepare<{ position: number; count: number; recordedAt: number; stream: number }, [number]>(
    `SELECT position, count, recorded_at AS recordedAt, stream FROM events WHERE position <= ? ORDER BY position DESC LIMIT 1`,
  ),
  allBackwards: database.prepare<Row, [number]>(
    `SELECT ${columns} FROM events WHERE position < ? ORDER BY position DESC`,
  ),
})

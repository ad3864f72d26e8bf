import type { Database } from 'bun:sqlite'
import { BoundedMap } from '../../domain/bounded-map.ts'
import type { RecordedEvent } from '../../domain/events.ts'
import { categoryOf } from '../../domain/stream-names.ts'
import { storeStreamsRememberedMax } from '../../limits.ts'
import type { Codec } from '../codec/codec.ts'
import type { Part } from '../codec/packed-readings.ts'
import type { ReadAllOptions, ReadOptions } from '../event-log.ts'
import type { Scan, Wants } from '../subscriptions.ts'

type Row = {
  readonly position: number
  readonly stream: number
  readonly revision: number
  readonly count: number
  readonly recorded_at: number
  readonly body: string | Uint8Array
}

type Known = {
  readonly name: string
  readonly category: string
  /** Events before this revision are truncated. Reads hide them, although their rows can still be in the file. */
  readonly keptFrom: number
}

export type Head = { readonly id: number; readonly nextRevision: number }

const columns = 'position, stream, revision, count, recorded_at, body'

export class SqliteReads {
  readonly #codec: Codec
  readonly #statements: ReturnType<typeof prepare>
  readonly #known = new BoundedMap<number, Known>(storeStreamsRememberedMax)

  constructor(database: Database, codec: Codec) {
    this.#codec = codec
    this.#statements = prepare(database)
  }

  head(stream: string): Head | null {
    const found = this.#statements.head.get(stream)
    return found === null ? null : { id: found.id, nextRevision: found.next_revision }
  }

  ends(): { readonly nextPosition: number; readonly nextStreamId: number } {
    const ends = this.#statements.ends.get()
    return { nextPosition: ends?.next_position ?? 1, nextStreamId: ends?.next_stream ?? 1 }
  }

  /**
   * Returns the size of the log's file in bytes, including pages that are only in the write-ahead log. `free` is the
   * size of the empty pages.
   */
  fileBytes(): { readonly all: number; readonly free: number } {
    const { pages, freePages, pageSize } = this.#statements
    const size = pageSize.get()?.page_size ?? 0
    return { all: size * (pages.get()?.page_count ?? 0), free: size * (freePages.get()?.freelist_count ?? 0) }
  }

  read(stream: string, { from, direction, limit }: ReadOptions): readonly RecordedEvent[] {
    const id = this.#statements.streamId.get(stream)?.id
    if (id === undefined) return []
    const { keptFrom } = this.#stream(id)
    if (direction === 'backwards') {
      const last = from ?? Number.MAX_SAFE_INTEGER
      const rows = this.#statements.streamBackwards.iterate(id, last, keptFrom)
      return this.#take(rows, { limit, backwards: true }, ({ revision }) => ({ end: last - revision + 1 }))
    }
    const first = Math.max(from ?? 0, keptFrom)
    const rows = this.#statements.streamForwards.iterate(id, first)
    return this.#take(rows, { limit, backwards: false }, ({ revision }) => ({ first: first - revision }))
  }

  keptFrom(id: number): number {
    return this.#stream(id).keptFrom
  }

  /**
   * Call this after a truncation. Otherwise reads would use the old `keptFrom` in memory, and show truncated events.
   */
  truncated(id: number): void {
    this.#known.delete(id)
  }

  hasRowsToTrim(id: number): boolean {
    const first = this.#statements.firstRow.get(id)
    return first !== null && first.next_revision <= this.keptFrom(id)
  }

  readAll({ from, direction, limit }: ReadAllOptions): readonly RecordedEvent[] {
    if (direction === 'backwards') {
      const before = from ?? Number.MAX_SAFE_INTEGER
      const rows = this.#statements.allBackwards.iterate(before)
      return this.#take(rows, { limit, backwards: true }, ({ position }) => ({ end: before - position }))
    }
    const after = from ?? 0
    const rows = this.#statements.allForwards.iterate(after)
    return this.#take(rows, { limit, backwards: false }, ({ position }) => ({ first: after - position + 1 }))
  }

  /**
   * Reads old events for a subscription: `limit` events and the rest of the last row. `publishedTo` is the position of
   * the last published event. When the scan has reached it, `atEnd` is true, and the subscription gets further events
   * when they are published.
   */
  scan(
    after: number | null,
    wants: Wants,
    { limit, publishedTo }: { readonly limit: number; readonly publishedTo: number },
  ): Scan {
    const events: RecordedEvent[] = []
    let scannedTo = after ?? 0
    let looked = 0
    for (const row of this.#statements.allForwards.iterate(scannedTo)) {
      // An earlier scan may have read the whole first row. If its events counted towards `limit`, a large row would end
      // every scan, and a subscription would never get past it.
      if (row.position + row.count - 1 <= scannedTo) continue
      if (wants(this.#stream(row.stream).category)) {
        const kept = this.#kept(row, { first: scannedTo - row.position + 1 })
        for (const event of this.#decode(row, kept)) events.push(event)
      }
      scannedTo = Math.max(scannedTo, row.position + row.count - 1)
      looked += row.count
      if (looked >= limit) break
    }
    return { events, scannedTo: scannedTo === 0 ? after : scannedTo, atEnd: scannedTo >= publishedTo }
  }

  #take(
    rows: Iterable<Row>,
    { limit, backwards }: { readonly limit: number; readonly backwards: boolean },
    within: (row: Row) => Partial<Part>,
  ): readonly RecordedEvent[] {
    const taken: RecordedEvent[] = []
    for (const row of rows) {
      const { first, end } = this.#kept(row, within(row))
      const left = limit - taken.length
      if (backwards) taken.push(...this.#decode(row, { first: Math.max(first, end - left), end }).toReversed())
      else taken.push(...this.#decode(row, { first, end: Math.min(end, first + left) }))
      if (taken.length === limit) break
    }
    return taken
  }

  /**
   * Leaves out truncated events. A row with events on both sides of `keptFrom` stays whole in the file, so reads must
   * hide a part of it.
   */
  #kept({ stream, revision, count }: Row, { first = 0, end = count }: Partial<Part>): Part {
    return { first: Math.max(0, first, this.#stream(stream).keptFrom - revision), end: Math.min(count, end) }
  }

  #decode({ position, stream, revision, count, recorded_at, body }: Row, part: Part): readonly RecordedEvent[] {
    if (part.first >= part.end) return []
    const { name } = this.#stream(stream)
    return this.#codec.decode({ stream: name, position, revision, count, recordedAt: recorded_at, body }, part)
  }

  #stream(id: number): Known {
    const known = this.#known.get(id)
    if (known !== undefined) return known
    const found = this.#statements.stream.get(id)
    if (found === null) throw new Error(`Cannot read the log: it has no stream ${id}`)
    const stream = { name: found.name, category: categoryOf(found.name), keptFrom: found.kept_from ?? 0 }
    this.#known.set(id, stream)
    return stream
  }
}

const prepare = (database: Database) => ({
  pages: database.prepare<{ page_count: number }, []>('PRAGMA page_count'),
  freePages: database.prepare<{ freelist_count: number }, []>('PRAGMA freelist_count'),
  pageSize: database.prepare<{ page_size: number }, []>('PRAGMA page_size'),
  ends: database.prepare<{ next_position: number | null; next_stream: number | null }, []>(`
    SELECT (SELECT position + count FROM events ORDER BY position DESC LIMIT 1) AS next_position,
           (SELECT max(id) + 1 FROM streams) AS next_stream
  `),
  stream: database.prepare<{ name: string; kept_from: number | null }, [number]>(
    'SELECT name, kept_from FROM streams LEFT JOIN truncations ON stream = id WHERE id = ?',
  ),
  streamId: database.prepare<{ id: number }, [string]>('SELECT id FROM streams WHERE name = ?'),
  head: database.prepare<{ id: number; next_revision: number }, [string]>(`
    SELECT streams.id, revision + count AS next_revision FROM streams JOIN events ON stream = streams.id
      WHERE name = ? ORDER BY revision DESC LIMIT 1
  `),
  // Revision ?2 may be inside a row, because a row holds several events. So reading begins with the row that contains
  // this revision.
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
  firstRow: database.prepare<{ next_revision: number }, [number]>(
    'SELECT revision + count AS next_revision FROM events WHERE stream = ? ORDER BY revision LIMIT 1',
  ),
  allForwards: database.prepare<Row, [number]>(`
    SELECT ${columns} FROM events
      WHERE position >= coalesce((SELECT max(position) FROM events WHERE position <= ?), 0) ORDER BY position
  `),
  allBackwards: database.prepare<Row, [number]>(
    `SELECT ${columns} FROM events WHERE position < ? ORDER BY position DESC`,
  ),
})

import type { Database } from 'bun:sqlite'
import type { NewEvent, RecordedEvent } from '../domain/events.ts'
import { storeStreamsRememberedMax } from '../limits.ts'
import type { Codec, NewRow, StoredRow } from './codec.ts'
import type { AppendResult, ExpectedRevision, ReadAllOptions, ReadOptions } from './event-log.ts'
import { recordRun } from './storable.ts'
import type { Scan } from './subscriptions.ts'

/** An append with its rows encoded. */
export type Append = {
  readonly stream: string
  readonly expected: ExpectedRevision
  readonly events: readonly NewEvent[]
  readonly rows: readonly NewRow[]
}

type Row = {
  readonly position: number
  readonly stream: number
  readonly revision: number
  readonly count: number
  readonly recorded_at: number
  readonly body: string | Uint8Array
}

type Head = { readonly id: number; nextRevision: number }

const columns = 'position, stream, revision, count, recorded_at, body'

/** Events as rows of the log's file. Everything here happens at once; what is remembered is undone by `rollback`. */
export class SqliteStore {
  readonly #database: Database
  readonly #codec: Codec
  readonly #statements: ReturnType<typeof prepare>
  /** Where streams end: of those used last, the others are looked up. */
  readonly #heads = new Map<string, Head>()
  readonly #names = new Map<number, string>()
  #nextPosition = 1
  #nextStreamId = 1

  constructor(database: Database, codec: Codec) {
    this.#database = database
    this.#codec = codec
    this.#statements = prepare(database)
    this.#loadEnds()
  }

  begin(): void {
    this.#statements.begin.run()
  }

  commit(): void {
    this.#statements.commit.run()
  }

  /** Forgets everything that was remembered, too: what was undone, or written by another, must not be believed. */
  rollback(): void {
    // After some failures SQLite has rolled back by itself.
    if (this.#database.inTransaction) this.#statements.rollback.run()
    this.#heads.clear()
    this.#names.clear()
    this.#loadEnds()
  }

  /** Inside a transaction. @throws UndecodableEvent if what lies at that place can't be compared. */
  append({ stream, expected, events, rows }: Append): AppendResult {
    const head = this.#head(stream)
    const revision = expected === 'none' ? 0 : expected + 1
    const nextRevision = head?.nextRevision ?? 0
    if (revision !== nextRevision) return this.#writtenBefore(stream, events, { revision, nextRevision })

    const recorded = recordRun(stream, events, { revision, position: this.#nextPosition })
    const { id } = head ?? this.#addStream(stream)
    let at = revision
    for (const row of rows) {
      this.#statements.insertEvents.run(this.#nextPosition, id, at, row.count, row.recordedAt, row.body)
      at += row.count
      this.#nextPosition += row.count
    }
    this.#rememberHead(stream, { id, nextRevision: at })
    return { outcome: 'written', events: recorded }
  }

  read(stream: string, { from, direction, limit }: ReadOptions): readonly RecordedEvent[] {
    const id = this.#head(stream)?.id
    if (id === undefined) return []
    if (direction === 'backwards') {
      const last = from ?? Number.MAX_SAFE_INTEGER
      const rows = this.#statements.streamBackwards.iterate(id, last)
      return this.#take(rows, { limit, backwards: true }, (event) => event.revision <= last)
    }
    const first = from ?? 0
    const rows = this.#statements.streamForwards.iterate(id, first)
    return this.#take(rows, { limit, backwards: false }, (event) => event.revision >= first)
  }

  readAll({ from, direction, limit }: ReadAllOptions): readonly RecordedEvent[] {
    if (direction === 'backwards') {
      const before = from ?? Number.MAX_SAFE_INTEGER
      const rows = this.#statements.allBackwards.iterate(before)
      return this.#take(rows, { limit, backwards: true }, (event) => event.position < before)
    }
    const after = from ?? 0
    const rows = this.#statements.allForwards.iterate(after)
    return this.#take(rows, { limit, backwards: false }, (event) => event.position > after)
  }

  /** Looks at `limit` events or a few more: to the end of the row that has the last of them. */
  scan(after: number | null, wants: (stream: string) => boolean, limit: number): Scan {
    const events: RecordedEvent[] = []
    let scannedTo = after ?? 0
    let looked = 0
    for (const row of this.#statements.allForwards.iterate(scannedTo)) {
      const stream = this.#name(row.stream)
      if (wants(stream)) {
        for (const event of this.#decode(row, stream)) if (event.position > scannedTo) events.push(event)
      }
      scannedTo = Math.max(scannedTo, row.position + row.count - 1)
      looked += row.count
      if (looked >= limit) break
    }
    return { events, scannedTo: scannedTo === 0 ? after : scannedTo, atEnd: scannedTo >= this.#nextPosition - 1 }
  }

  #writtenBefore(
    stream: string,
    events: readonly NewEvent[],
    { revision, nextRevision }: { readonly revision: number; readonly nextRevision: number },
  ): AppendResult {
    if (revision + events.length <= nextRevision) {
      const there = this.read(stream, { from: revision, limit: events.length })
      const isSame = there.length === events.length && there.every((event, index) => event.id === events[index]?.id)
      if (isSame) return { outcome: 'already_written', events: there }
    }
    return { outcome: 'conflict', currentRevision: nextRevision === 0 ? null : nextRevision - 1 }
  }

  #take(
    rows: Iterable<Row>,
    { limit, backwards }: { readonly limit: number; readonly backwards: boolean },
    isWanted: (event: RecordedEvent) => boolean,
  ): readonly RecordedEvent[] {
    const taken: RecordedEvent[] = []
    for (const row of rows) {
      const events = this.#decode(row, this.#name(row.stream))
      for (const event of backwards ? events.toReversed() : events) {
        if (taken.length < limit && isWanted(event)) taken.push(event)
      }
      if (taken.length === limit) break
    }
    return taken
  }

  #decode(row: Row, stream: string): readonly RecordedEvent[] {
    const { position, revision, count, body } = row
    const stored: StoredRow = { stream, position, revision, count, recordedAt: row.recorded_at, body }
    return this.#codec.decode(stored)
  }

  #head(stream: string): Head | null {
    const known = this.#heads.get(stream)
    if (known !== undefined) {
      this.#heads.delete(stream)
      this.#heads.set(stream, known)
      return known
    }
    const found = this.#statements.head.get(stream)
    if (found === null) return null
    return this.#rememberHead(stream, { id: found.id, nextRevision: found.next_revision })
  }

  #rememberHead(stream: string, head: Head): Head {
    if (this.#heads.size >= storeStreamsRememberedMax) forgetOldest(this.#heads)
    this.#heads.set(stream, head)
    return head
  }

  #addStream(stream: string): { readonly id: number } {
    const id = this.#nextStreamId
    this.#statements.insertStream.run(id, stream)
    this.#nextStreamId += 1
    return { id }
  }

  #name(id: number): string {
    const known = this.#names.get(id)
    if (known !== undefined) return known
    const name = this.#statements.streamName.get(id)?.name
    if (name === undefined) throw new Error(`Cannot read the log: it names no stream ${id}`)
    if (this.#names.size >= storeStreamsRememberedMax) forgetOldest(this.#names)
    this.#names.set(id, name)
    return name
  }

  #loadEnds(): void {
    const ends = this.#statements.ends.get()
    this.#nextPosition = ends?.next_position ?? 1
    this.#nextStreamId = ends?.next_stream ?? 1
  }
}

const forgetOldest = <K>(remembered: Map<K, unknown>): void => {
  const [oldest] = remembered.keys()
  if (oldest !== undefined) remembered.delete(oldest)
}

const prepare = (database: Database) => ({
  begin: database.prepare('BEGIN IMMEDIATE'),
  commit: database.prepare('COMMIT'),
  rollback: database.prepare('ROLLBACK'),
  ends: database.prepare<{ next_position: number | null; next_stream: number | null }, []>(`
    SELECT (SELECT position + count FROM events ORDER BY position DESC LIMIT 1) AS next_position,
           (SELECT max(id) + 1 FROM streams) AS next_stream
  `),
  insertStream: database.prepare('INSERT INTO streams (id, name) VALUES (?, ?)'),
  insertEvents: database.prepare(`INSERT INTO events (${columns}) VALUES (?, ?, ?, ?, ?, ?)`),
  streamName: database.prepare<{ name: string }, [number]>('SELECT name FROM streams WHERE id = ?'),
  head: database.prepare<{ id: number; next_revision: number }, [string]>(`
    SELECT streams.id, revision + count AS next_revision FROM streams JOIN events ON stream = streams.id
      WHERE name = ? ORDER BY revision DESC LIMIT 1
  `),
  // A place in the middle of a row: forwards, reading begins with the row that has it.
  streamForwards: database.prepare<Row, [number, number]>(`
    SELECT ${columns} FROM events WHERE stream = ?1
      AND revision >= coalesce((SELECT max(revision) FROM events WHERE stream = ?1 AND revision <= ?2), 0)
      ORDER BY revision
  `),
  streamBackwards: database.prepare<Row, [number, number]>(
    `SELECT ${columns} FROM events WHERE stream = ? AND revision <= ? ORDER BY revision DESC`,
  ),
  allForwards: database.prepare<Row, [number]>(`
    SELECT ${columns} FROM events
      WHERE position >= coalesce((SELECT max(position) FROM events WHERE position <= ?), 0) ORDER BY position
  `),
  allBackwards: database.prepare<Row, [number]>(
    `SELECT ${columns} FROM events WHERE position < ? ORDER BY position DESC`,
  ),
})

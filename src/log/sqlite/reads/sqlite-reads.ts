import type { Database } from 'bun:sqlite'
import { BoundedMap } from '../../../domain/bounded-map.ts'
import type { RecordedEvent } from '../../../domain/events.ts'
import { storeReadsRememberedMax } from '../../../limits.ts'
import type { Codec } from '../../codec/codec.ts'
import type { Part } from '../../codec/packed-readings.ts'
import { type Beginning, DamagedLog, type ReadAllOptions, type ReadOptions } from '../../event-log.ts'
import type { Scan, Wants } from '../../subscriptions.ts'
import type { Truncation } from '../sqlite-commits.ts'
import { damagedIndex, IndexChecks } from './index-checks.ts'
import { KnownStreams } from './known-streams.ts'
import { readBeginning } from './read-beginning.ts'
import { prepareReads, type ReadStatements } from './read-statements.ts'
import { markChecksum, type Row } from './row-checksum.ts'
import {
  assertBeginning,
  backwardsInLog,
  backwardsInStream,
  emptyStream,
  forwardsInStream,
  LogOrder,
  type Neighbours,
  type OrderCheck,
} from './row-order.ts'

export type Head = { readonly id: number; readonly nextRevision: number; readonly nameChecksum: number }

type Taking = {
  readonly limit: number
  readonly backwards: boolean
  readonly inOrder: OrderCheck
  within(row: Row): Partial<Part>
}

type Taken = {
  readonly events: readonly RecordedEvent[]
  readonly firstRow: Row | null
  readonly lastRow: Row | null
}

/** The last revision that somebody knows from earlier reads. */
export type LastKnown = (stream: string) => number | null

/** Each read checks a row before it decodes it, and throws `DamagedLog`. */
export class SqliteReads {
  readonly #database: Database
  readonly #codec: Codec
  readonly #statements: ReadStatements
  readonly #streams: KnownStreams
  readonly #neighbours: Neighbours
  readonly #index: IndexChecks
  /** By the position at which the last page ended. */
  readonly #wholeOrders = new BoundedMap<number, LogOrder>(storeReadsRememberedMax)
  /** For reads that began inside the log. A search makes many, which must not displace the whole ones. */
  readonly #laterOrders = new BoundedMap<number, LogOrder>(storeReadsRememberedMax)
  #lastKnown: LastKnown = () => null

  constructor(database: Database, codec: Codec) {
    this.#database = database
    this.#codec = codec
    this.#statements = prepareReads(database)
    this.#streams = new KnownStreams(this.#statements)
    this.#neighbours = this.#streams.neighbours
    this.#index = new IndexChecks(database, this.#neighbours.keptFromNow)
  }

  /** From now on, an earlier end of a stream is damage. */
  checkEnds(lastKnown: LastKnown): void {
    this.#lastKnown = lastKnown
  }

  head(stream: string): Head | null {
    const id = this.#findId(stream)
    if (id === null) return null
    const row = this.#statements.lastRowOfStream.get(id)
    if (row === null) throw emptyStream(stream)
    const { nameChecksum, keptFrom } = this.#streams.checked(row)
    this.#assertEnd({ id, stream, keptFrom }, row)
    return { id, nextRevision: row.revision + row.count, nameChecksum }
  }

  ends(): { readonly nextPosition: number; readonly nextStreamId: number } {
    const last = this.#statements.lastRow.get()
    if (last !== null) this.#streams.checked(last)
    const nextPosition = last === null ? 1 : last.position + last.count
    return { nextPosition, nextStreamId: this.#statements.nextStream.get()?.next_stream ?? 1 }
  }

  /** `all` includes pages that are only in the write-ahead log. */
  fileBytes(): { readonly all: number; readonly free: number } {
    const { pages, freePages, pageSize } = this.#statements
    const size = pageSize.get()?.page_size ?? 0
    return { all: size * (pages.get()?.page_count ?? 0), free: size * (freePages.get()?.freelist_count ?? 0) }
  }

  read(stream: string, options: ReadOptions): readonly RecordedEvent[] {
    const id = this.#findId(stream)
    if (id === null) return []
    const { keptFrom } = this.#streams.get(id)
    return options.direction === 'backwards'
      ? this.#readBackwards({ id, stream, keptFrom }, options)
      : this.#readForwards({ id, stream, keptFrom }, options)
  }

  #readForwards(of: StreamToRead, { from, limit }: ReadOptions): readonly RecordedEvent[] {
    const { id, stream, keptFrom } = of
    const first = Math.max(from ?? 0, keptFrom)
    const rows = this.#statements.streamForwards.iterate(id, first)
    const { events, lastRow } = this.#take(rows, {
      limit,
      backwards: false,
      inOrder: forwardsInStream(first),
      within: ({ revision }) => ({ first: first - revision }),
    })
    if (lastRow === null) throw emptyStream(stream)
    if (events.length < limit) this.#assertEnd(of, lastRow)
    return events
  }

  #readBackwards(of: StreamToRead, { from, limit }: ReadOptions): readonly RecordedEvent[] {
    const { id, stream, keptFrom } = of
    const last = from ?? Number.MAX_SAFE_INTEGER
    const rows = this.#statements.streamBackwards.iterate(id, last, keptFrom)
    const { events, firstRow, lastRow } = this.#take(rows, {
      limit,
      backwards: true,
      inOrder: backwardsInStream(last, this.#neighbours),
      within: ({ revision }) => ({ end: last - revision + 1 }),
    })
    if (firstRow === null && from === undefined) throw emptyStream(stream)
    // The stream ends before revision `last`.
    if (firstRow !== null && firstRow.revision + firstRow.count <= last) this.#assertEnd(of, firstRow)
    const readTo = lastRow?.revision ?? last + 1
    if (events.length < limit && readTo > keptFrom) {
      const why = `the events from revision ${keptFrom} on are missing`
      throw new DamagedLog({ stream, revision: keptFrom, position: null }, why)
    }
    return events
  }

  keptFrom(id: number): number {
    return this.#streams.get(id).keptFrom
  }

  truncationOf(id: number, keptFrom: number): Truncation {
    const { name } = this.#streams.get(id)
    return { stream: id, keptFrom, checksum: markChecksum(name, { stream: id, keptFrom }) }
  }

  /** Otherwise reads would show truncated events. */
  truncated(id: number): void {
    this.#streams.forget(id)
  }

  /** Call this when another connection may have truncated streams. */
  forgetStreams(): void {
    this.#streams.forgetAll()
  }

  hasRowsToTrim(id: number): boolean {
    const first = this.#statements.firstRow.get(id)
    return first !== null && first.next_revision <= this.keptFrom(id)
  }

  readAll({ from, direction, limit }: ReadAllOptions): readonly RecordedEvent[] {
    if (direction === 'backwards') {
      const before = from ?? Number.MAX_SAFE_INTEGER
      const { events, lastRow } = this.#take(this.#statements.allBackwards.iterate(before), {
        limit,
        backwards: true,
        inOrder: backwardsInLog(this.#neighbours),
        within: ({ position }) => ({ end: before - position }),
      })
      if (events.length < limit && lastRow !== null) assertBeginning(lastRow, this.#neighbours)
      return events
    }
    const after = from ?? 0
    const order = this.#orderAfter(after)
    const { events } = this.#take(this.#statements.allForwards.iterate(after), {
      limit,
      backwards: false,
      inOrder: order.check,
      within: ({ position }) => ({ first: after - position + 1 }),
    })
    const last = events.at(-1)
    if (events.length < limit) order.assertComplete()
    else if (last !== undefined) this.#ordersLike(order).set(last.position, order)
    return events
  }

  beginning(onEvent: (event: RecordedEvent) => void): Beginning {
    this.#database.run('BEGIN')
    try {
      const [database, statements, streams, codec] = [this.#database, this.#statements, this.#streams, this.#codec]
      return readBeginning({ database, statements, streams, codec }, onEvent)
    } finally {
      // After some faults SQLite has ended the transaction.
      if (this.#database.inTransaction) this.#database.run('COMMIT')
    }
  }

  /**
   * `limit` old events, and the rest of the last row, for a subscription. At the last published position, `atEnd` is true:
   * further events come when they are published.
   */
  scan(
    after: number | null,
    wants: Wants,
    { limit, publishedTo }: { readonly limit: number; readonly publishedTo: number },
  ): Scan {
    const events: RecordedEvent[] = []
    let scannedTo = after ?? 0
    let looked = 0
    let isLeft = false
    const order = this.#orderAfter(scannedTo)
    for (const row of this.#statements.allForwards.iterate(scannedTo)) {
      const last = row.position + row.count - 1
      // Damage can have changed the stream of a wanted row, so all rows are checked.
      const { category } = this.#streams.checked(row, order.check)
      // An earlier scan may have read the whole row. If it counted, a subscription would never get past a large row.
      if (last <= scannedTo) continue
      if (wants(category)) {
        const kept = this.#kept(row, { first: scannedTo - row.position + 1 })
        for (const event of this.#decode(row, kept)) events.push(event)
      }
      scannedTo = last
      looked += row.count
      // The rows behind are few: those of the commits under way. Without them, `order` is not complete.
      isLeft = looked >= limit && scannedTo < publishedTo
      if (isLeft) break
    }
    const atEnd = scannedTo >= publishedTo
    if (!isLeft) order.assertComplete()
    if (!atEnd) this.#ordersLike(order).set(scannedTo, order)
    return { events, scannedTo: scannedTo === 0 ? after : scannedTo, atEnd }
  }

  #take(rows: Iterable<Row>, { limit, backwards, inOrder, within }: Taking): Taken {
    const events: RecordedEvent[] = []
    let firstRow: Row | null = null
    let lastRow: Row | null = null
    for (const row of rows) {
      this.#streams.checked(row, inOrder)
      firstRow ??= row
      lastRow = row
      const { first, end } = this.#kept(row, within(row))
      const left = limit - events.length
      if (backwards) events.push(...this.#decode(row, { first: Math.max(first, end - left), end }).toReversed())
      else events.push(...this.#decode(row, { first, end: Math.min(end, first + left) }))
      if (events.length === limit) break
    }
    return { events, firstRow, lastRow }
  }

  #orderAfter(position: number): LogOrder {
    const order = this.#wholeOrders.get(position) ?? this.#laterOrders.get(position)
    if (order === undefined) return new LogOrder(this.#neighbours, position === 0 ? 1 : null)
    this.#ordersLike(order).delete(position)
    order.beginPage()
    return order
  }

  #ordersLike({ isWhole }: LogOrder): BoundedMap<number, LogOrder> {
    return isWhole ? this.#wholeOrders : this.#laterOrders
  }

  /** @throws DamagedLog if the stream is known to exist */
  #findId(stream: string): number | null {
    const id = this.#index.idOf(stream)
    if (id === null) this.#assertReaches(stream, 0)
    // A damaged entry of the index would show the events of another stream.
    else if (this.#streams.get(id).name !== stream) throw damagedIndex(stream)
    return id
  }

  /** `row` is the last of a read. @throws DamagedLog if later rows are missing */
  #assertEnd({ id, stream, keptFrom }: StreamToRead, { revision, count }: Row): void {
    const end = revision + count
    this.#index.assertEnd({ stream, id, end })
    this.#assertReaches(stream, end, keptFrom)
  }

  /** The last event is never truncated, so the stream is longer than `keptFrom`. */
  #assertReaches(stream: string, end: number, keptFrom = 0): void {
    const known = Math.max(this.#lastKnown(stream) ?? -1, keptFrom === 0 ? -1 : keptFrom)
    if (end > known) return
    const why = `the events from revision ${end} to ${known} are missing`
    throw new DamagedLog({ stream, revision: end, position: null }, why)
  }

  /** A row on both sides of `keptFrom` stays whole in the file, so reads hide a part of it. */
  #kept({ stream, revision, count }: Row, { first = 0, end = count }: Partial<Part>): Part {
    return { first: Math.max(0, first, this.#streams.get(stream).keptFrom - revision), end: Math.min(count, end) }
  }

  #decode({ position, stream, revision, count, recordedAt, body }: Row, part: Part): readonly RecordedEvent[] {
    if (part.first >= part.end) return []
    const { name } = this.#streams.get(stream)
    return this.#codec.decode({ stream: name, position, revision, count, recordedAt, body }, part)
  }
}

type StreamToRead = { readonly id: number; readonly stream: string; readonly keptFrom: number }

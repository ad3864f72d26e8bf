import { type Database, SQLiteError } from 'bun:sqlite'
import { BoundedMap } from '../../../domain/bounded-map.ts'
import { NameCache } from '../../../domain/reading/name-cache.ts'
import { isRun, type LogItem } from '../../../domain/reading/recorded-run.ts'
import { isRecordStream } from '../../../domain/stream-names.ts'
import { storeReadsRememberedMax } from '../../../limits.ts'
import { createCodec } from '../../codec/codec.ts'
import { RunUnpacker } from '../../codec/unpack-runs.ts'
import { Outage } from '../../event-log.ts'
import type { Beginning, Source, SourcePage } from '../../source.ts'
import { faultOf } from '../sqlite-faults.ts'
import { openReadOnly } from '../sqlite-file.ts'
import { type KnownStream, KnownStreams } from './known-streams.ts'
import { prepareReads, type ReadStatements } from './read-statements.ts'
import type { Row } from './row-checksum.ts'
import { LogOrder } from './row-order.ts'

/** With fewer rows, starting the statement would be most of the cost of a page. */
export const sourcePageRowsMax = 128
/** A further row is read only while the page has fewer bytes. */
const sourcePageBytesMax = 1024 * 1024
/** A further row is read only while the page has fewer events. The models fold a page in one piece, which takes a few ms. */
export const sourcePageEventsMax = 4_096
/** 131,072 names: `nameCacheWays` in each set. */
const sourceNameSetBits = 15

/**
 * `SqliteLog` must have opened the file first: `openForReading` makes durable what a killed process has left. With
 * `synchronous = FULL`, SQLite shows a commit to others only after its fsync. So all events of a page are durable.
 */
export class FileSource implements Source {
  readonly #path: string
  readonly #database: Database
  readonly #statements: ReadStatements
  readonly #streams: KnownStreams
  readonly #codec = createCodec()
  readonly #runs = new RunUnpacker(new NameCache(sourceNameSetBits))
  /** By the position at which a page ended: models that are behind read pages of their own. */
  readonly #orders = new BoundedMap<number, LogOrder>(storeReadsRememberedMax)
  #page: readonly LogItem[] = []
  #isClosed = false

  /** @throws the errors of `openReadOnly`, Outage */
  constructor(path: string) {
    this.#path = path
    this.#database = openReadOnly(path)
    try {
      this.#statements = prepareReads(this.#database)
      this.#streams = new KnownStreams(this.#statements)
    } catch (cause) {
      this.#database.close(true)
      throw cause instanceof SQLiteError ? faultOf(`open "${path}"`, cause) : cause
    }
  }

  async after(position: number | null): Promise<SourcePage> {
    return this.#orFault(() => this.#pageAfter(position ?? 0))
  }

  /** A binary search, because times follow positions but for a few seconds. Only the times of records can be wrong. */
  async beginningOf({ nowMs, keptMs }: Beginning): Promise<number | null> {
    return this.#orFault(() => {
      const newest = this.#noRecordUpTo(Number.MAX_SAFE_INTEGER)
      if (newest === null) return null
      const beforeMs = Math.min(nowMs, newest.recordedAt) - keptMs
      let [older, younger] = [0, newest.position]
      while (younger - older > 1) {
        const middle = Math.floor((older + younger) / 2)
        const row = this.#noRecordUpTo(middle)
        if (row === null || row.position <= older || row.recordedAt < beforeMs) older = middle
        else younger = row.position
      }
      return older === 0 ? null : older
    })
  }

  #noRecordUpTo(position: number) {
    const { rowUpTo } = this.#statements
    let row = rowUpTo.get(position)
    while (row !== null && isRecordStream(this.#streams.get(row.stream).name)) row = rowUpTo.get(row.position - 1)
    return row
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#database.close(true)
  }

  #orFault<T>(read: () => T): T {
    if (this.#isClosed) throw new Outage('Cannot read the log: it is closed', 'not_written', 'closed')
    try {
      return read()
    } catch (cause) {
      throw cause instanceof SQLiteError ? faultOf(`read the log in "${this.#path}"`, cause) : cause
    }
  }

  #pageAfter(after: number): SourcePage {
    const { order, begin } = this.#orderAfter(after)
    const { rows, atEnd } = this.#rowsAfter(begin)
    for (const item of this.#page) if (isRun(item)) item.run.giveBack()
    const items: LogItem[] = []
    this.#page = items
    let scannedTo = after
    for (const row of rows) {
      const { name, keptFrom } = this.#checked(row, order)
      const { position, revision, count, recordedAt, body } = row
      const first = Math.max(0, after + 1 - position, keptFrom - revision)
      scannedTo = position + count - 1
      if (first >= count) continue
      const stored = { stream: name, position, revision, count, recordedAt, body }
      for (const item of this.#codec.decodeItems(stored, first, this.#runs)) items.push(item)
    }
    if (atEnd) order.assertComplete()
    // After the whole log, the statements find the ends of streams, without memory.
    this.#orders.set(scannedTo, atEnd && order.isWhole ? new LogOrder(this.#streams.neighbours, scannedTo + 1) : order)
    return { items, scannedTo: scannedTo === 0 ? null : scannedTo, atEnd }
  }

  /** `begin` is before `after` if that position is inside a row. */
  #orderAfter(after: number): { readonly order: LogOrder; readonly begin: number } {
    const known = this.#orders.get(after)
    this.#orders.delete(after)
    if (known !== undefined) return { order: known, begin: after }
    const row = this.#statements.rowUpTo.get(after)
    const isInside = row !== null && row.position + row.count - 1 > after
    const next = row === null ? 1 : isInside ? row.position : row.position + row.count
    return { order: new LogOrder(this.#streams.neighbours, next), begin: isInside ? next - 1 : after }
  }

  /** While a statement is open, SQLite cannot begin the write-ahead log anew. So it ends before a row is decoded. */
  #rowsAfter(position: number): { readonly rows: readonly FoundRow[]; readonly atEnd: boolean } {
    const rows: FoundRow[] = []
    let [bytes, events] = [0, 0]
    for (const row of this.#statements.sourceForwards.iterate(position)) {
      rows.push(row)
      bytes += row.body.length
      events += row.count
      if (rows.length === sourcePageRowsMax || bytes >= sourcePageBytesMax || events >= sourcePageEventsMax)
        return { rows, atEnd: false }
    }
    return { rows, atEnd: true }
  }

  /** Another connection can have truncated the stream since. */
  #checked(row: FoundRow, order: LogOrder): KnownStream {
    const stream = this.#streams.checked(row, order.check)
    if ((row.keptFrom ?? 0) <= stream.keptFrom) return stream
    this.#streams.forget(row.stream)
    return this.#streams.get(row.stream)
  }
}

type FoundRow = Row & { readonly keptFrom: number | null }

import type { Database, Statement } from 'bun:sqlite'
import { checksumOf } from '../../bytes/checksum.ts'
import type { RecordedEvent } from '../../domain/events.ts'
import type { ReadingsEnd } from '../../domain/reading/readings-end.ts'
import { isRun, itemCount, type LogItem, lastPositionOf } from '../../domain/reading/recorded-run.ts'
import { categoryOf, isRecordStream, readingsCategory } from '../../domain/stream-names.ts'
import { type Codec, createCodec } from '../../log/codec/codec.ts'
import { UndecodableEvent } from '../../log/event-log.ts'
import { FlushSteps } from '../flush-steps.ts'
import type { Model, ModelKind } from '../model.ts'
import { ModelUnusable } from '../model-file.ts'
import { emptyTotal, type RowsTotal, totalWith, totalWithout } from '../repeats/rows-total.ts'

/** What is not flushed when the process dies, the next start reads from EventStoreDB. */
const beginningFlushEveryMs = 10_000
/** The rows that are read at once: about 5 ms. */
const beginningRowsPerCheckStep = 1_000

const tables = `
  CREATE TABLE events (
    position INTEGER PRIMARY KEY,
    stream TEXT NOT NULL,
    revision INTEGER NOT NULL,
    body TEXT NOT NULL,
    checksum INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE ends (
    stream TEXT PRIMARY KEY,
    revision INTEGER NOT NULL,
    kept_from INTEGER NOT NULL,
    last_revision INTEGER,
    last_position INTEGER,
    last_recorded_at INTEGER,
    checksum INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE total (id INTEGER PRIMARY KEY CHECK (id = 1), count INTEGER NOT NULL, sum INTEGER NOT NULL) STRICT;
`

/**
 * What a start needs in place of the whole log: all events that are neither readings nor records, and how far readings go.
 * EventStoreDB cannot list these. A start decides by this file, so its rows have checksums, and the
 * checksums have a sum.
 */
export const beginningModel: ModelKind = {
  name: 'beginning',
  format: 1,
  tables,
  flushEveryMs: beginningFlushEveryMs,
  *check(database) {
    yield* readBeginning(database, () => {})
    return null
  },
  open: (database) => new BeginningModel(database),
}

type EventRow = {
  readonly position: number
  readonly stream: string
  readonly revision: number
  readonly body: string
  readonly checksum: number
}

type EndRow = {
  readonly stream: string
  readonly revision: number
  readonly kept_from: number
  readonly last_revision: number | null
  readonly last_position: number | null
  readonly last_recorded_at: number | null
  readonly checksum: number
}

/** @throws ModelUnusable, SQLiteError */
export function* readBeginning(
  database: Database,
  onEvent: (event: RecordedEvent) => void,
): Generator<void, readonly ReadingsEnd[]> {
  const codec = createCodec()
  const reached = new Map<string, number>()
  let total = emptyTotal
  const isFull = (checksum: number): boolean => {
    total = totalWith(total, checksum)
    return total.count % beginningRowsPerCheckStep === 0
  }
  using eventRows = database.prepare<EventRow, []>('SELECT * FROM events ORDER BY position')
  for (const row of eventRows.iterate()) {
    if (eventChecksum(row) !== row.checksum) throw new ModelUnusable('an event does not match its checksum')
    const isNext = row.revision === (reached.get(row.stream) ?? -1) + 1 || categoryOf(row.stream) === readingsCategory
    if (!isNext) throw new ModelUnusable('the events of a stream are not consecutive')
    reached.set(row.stream, row.revision)
    for (const event of decoded(codec, row)) onEvent(event)
    if (isFull(row.checksum)) yield
  }
  const ends: ReadingsEnd[] = []
  using endRows = database.prepare<EndRow, []>('SELECT * FROM ends')
  for (const row of endRows.iterate()) {
    if (endChecksum(row) !== row.checksum) throw new ModelUnusable('the end of a stream does not match its checksum')
    ends.push(endOf(row))
    if (isFull(row.checksum)) yield
  }
  const stored = storedTotal(database)
  if (stored.count !== total.count || stored.sum !== total.sum) throw new ModelUnusable('it has lost rows')
  return ends
}

const decoded = (codec: Codec, row: EventRow): readonly RecordedEvent[] => {
  try {
    return codec.decode({ ...row, count: 1, recordedAt: 0 })
  } catch (cause) {
    throw cause instanceof UndecodableEvent ? new ModelUnusable(cause.message) : cause
  }
}

const storedTotal = (database: Database): RowsTotal =>
  database.query<RowsTotal, []>('SELECT count, sum FROM total').get() ?? emptyTotal

const eventChecksum = ({ position, stream, revision, body }: Omit<EventRow, 'checksum'>): number =>
  checksumOf(`${position} ${stream} ${revision} ${body}`)

const endChecksum = (row: Omit<EndRow, 'checksum'>): number => {
  const { stream, revision, kept_from, last_revision, last_position, last_recorded_at } = row
  return checksumOf([stream, revision, kept_from, last_revision, last_position, last_recorded_at].join(' '))
}

const endOf = (row: EndRow): ReadingsEnd => {
  const { last_revision: revision, last_position: position, last_recorded_at: recordedAt } = row
  const last = revision === null || position === null || recordedAt === null ? null : { revision, position, recordedAt }
  return { stream: row.stream, revision: row.revision, keptFrom: row.kept_from, last }
}

class BeginningModel implements Model {
  readonly #database: Database
  readonly #codec: Codec = createCodec()
  readonly #end: Statement<EndRow, [string]>
  readonly #steps = new FlushSteps()
  #total: RowsTotal
  #events: RecordedEvent[] = []
  #ends = new Map<string, ReadingsEnd>()

  constructor(database: Database) {
    this.#database = database
    this.#end = database.prepare('SELECT * FROM ends WHERE stream = ?')
    this.#total = storedTotal(database)
  }

  get pending(): number {
    return this.#events.length + this.#ends.size
  }

  fold(items: readonly LogItem[]): void {
    for (const item of items) {
      const isReading = isRun(item) || item.type === 'ReadingAccepted'
      if (isReading || item.type === 'ReadingsSealed' || item.type === 'ReadingsFenced') this.#reach(item, isReading)
      if (!isReading && !isRecordStream(item.stream)) this.#events.push(item)
    }
  }

  *flush(): Generator<void> {
    const [insertEvent, replaceEnd] = [
      this.#database.query('INSERT INTO events VALUES (?, ?, ?, ?, ?)'),
      this.#database.query('REPLACE INTO ends VALUES (?, ?, ?, ?, ?, ?, ?)'),
    ]
    yield* this.#steps.each(this.#events, (event) => {
      const { position, stream, revision } = event
      const body = String(this.#codec.encode(stream, [event])[0]?.body)
      const checksum = eventChecksum({ position, stream, revision, body })
      insertEvent.run(position, stream, revision, body, checksum)
      this.#total = totalWith(this.#total, checksum)
    })
    yield* this.#steps.each(this.#ends.values(), ({ stream, revision, keptFrom, last }) => {
      const before = this.#end.get(stream)
      if (before !== null) this.#total = totalWithout(this.#total, before.checksum)
      const [last_revision, last_position, last_recorded_at] =
        last === null ? [null, null, null] : [last.revision, last.position, last.recordedAt]
      const row = { stream, revision, kept_from: keptFrom, last_revision, last_position, last_recorded_at }
      const checksum = endChecksum(row)
      replaceEnd.run(stream, revision, keptFrom, last_revision, last_position, last_recorded_at, checksum)
      this.#total = totalWith(this.#total, checksum)
    })
    this.#database.query('REPLACE INTO total VALUES (1, ?, ?)').run(this.#total.count, this.#total.sum)
    this.#events = []
    this.#ends = new Map()
  }

  #reach(item: LogItem, isReading: boolean): void {
    const { stream, recordedAt } = item
    const before = this.#ends.get(stream) ?? this.#storedEnd(stream)
    const revision = item.revision + itemCount(item) - 1
    const isGap = item.revision > (before?.revision ?? -1) + 1
    this.#ends.set(stream, {
      stream,
      revision,
      keptFrom: isGap ? item.revision : (before?.keptFrom ?? 0),
      last: isReading ? { revision, position: lastPositionOf(item), recordedAt } : (before?.last ?? null),
    })
  }

  #storedEnd(stream: string): ReadingsEnd | null {
    const row = this.#end.get(stream)
    return row === null ? null : endOf(row)
  }
}

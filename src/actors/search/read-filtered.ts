import { BoundedMap } from '../../domain/bounded-map.ts'
import type { RecordedEvent } from '../../domain/events.ts'
import { type Actor, type EventKind, isBy, isOfCellar, keyOfEvent, kindOf } from '../../domain/search/event-filter.ts'
import { cellarStream, isRecordStream, keyStream, readingsStream, refusalsStream } from '../../domain/stream-names.ts'
import { readPageEventsMax, recordedSkewMsMax, searchedKeysMax } from '../../limits.ts'
import { firstRevision } from './first-revision.ts'
import type { LogReads } from './patient-reads.ts'
import { positionBefore } from './position-of-instant.ts'

/** `null` in a field wants any event. */
export type EventFilter = {
  readonly stream: string | null
  readonly type: string | null
  readonly kind: EventKind | null
  readonly actor: Actor | null
  readonly cellar: string | null
  /** The id of a key. Events of its readings, and purges of them, are events of the key too. */
  readonly key: string | null
  /** Only events after this position. It must be the position of an event if the log is in EventStoreDB. */
  readonly from: number | null
  /** Only events up to this position. */
  readonly to: number | null
  /** Only events recorded at this instant or later, in ms. */
  readonly since: number | null
  /** Only events recorded before this instant, in ms. */
  readonly until: number | null
}

/** Lets every event through. */
export const noFilter: EventFilter = {
  stream: null,
  type: null,
  kind: null,
  actor: null,
  cellar: null,
  key: null,
  from: null,
  to: null,
  since: null,
  until: null,
}

/**
 * Yields the matching events in the order of their positions. Each piece is what matches of one page, so it can be empty: the
 * caller can then let other work run. Events of one stream or key are read from their streams alone.
 * @throws Outage, UndecodableEvent
 */
export async function* readFiltered(
  log: LogReads,
  filter: EventFilter,
  pageEvents: number,
): AsyncGenerator<readonly RecordedEvent[]> {
  const cellars = new CellarsOfKeys(log)
  const streams = await streamsOf(filter, cellars)
  const pages = streams === null ? pagesOfLog : pagesOfStreams(streams)
  for await (const page of pages(log, filter, pageEvents)) {
    const matching: RecordedEvent[] = []
    for (const event of page) {
      if (!matches(event, filter)) continue
      if (filter.cellar === null || (await cellars.has(filter.cellar, event))) matching.push(event)
    }
    yield matching
  }
}

/** Returns `null` if events of any stream can match. */
const streamsOf = async ({ stream, key }: EventFilter, cellars: CellarsOfKeys): Promise<readonly string[] | null> => {
  if (stream !== null) return [stream]
  if (key === null) return null
  const cellar = await cellars.of(key)
  return cellar === null ? [] : [keyStream(key), readingsStream(key), refusalsStream(key), cellarStream(cellar)]
}

/** Judges all but the cellar. */
const matches = (
  event: RecordedEvent,
  { stream, type, kind, actor, key, from, to, since, until }: EventFilter,
): boolean =>
  (stream === null || event.stream === stream) &&
  (type === null || event.type === type) &&
  (from === null || event.position > from) &&
  (to === null || event.position <= to) &&
  (since === null || event.recordedAt >= since) &&
  (until === null || event.recordedAt < until) &&
  (kind === null || kindOf(event) === kind) &&
  (actor === null || isBy(event.metadata.by, actor)) &&
  (key === null || keyOfEvent(event) === key)

/** Looks up the cellar of a key in the key's first event, because a key never changes its cellar. */
class CellarsOfKeys {
  readonly #log: LogReads
  readonly #known = new BoundedMap<string, string | null>(searchedKeysMax)

  constructor(log: LogReads) {
    this.#log = log
  }

  async has(cellar: string, event: RecordedEvent): Promise<boolean> {
    const answer = isOfCellar(event, cellar)
    return answer === 'ask_key' ? (await this.of(keyOfEvent(event) ?? '')) === cellar : answer
  }

  /** Returns `null` if there is no such key. */
  async of(keyId: string): Promise<string | null> {
    const known = this.#known.get(keyId)
    if (known !== undefined) return known
    const [created] = await this.#log.read(keyStream(keyId), { limit: 1 })
    const cellar = created?.type === 'KeyCreated' ? created.data.cellar : null
    this.#known.set(keyId, cellar)
    return cellar
  }
}

type Pages = (log: LogReads, filter: EventFilter, pageEvents: number) => AsyncGenerator<readonly RecordedEvent[]>

/**
 * With `until`, ends after `readPageEventsMax` events in a row that were recorded `recordedSkewMsMax` later or more. An earlier
 * event can still follow a few later ones (`positionBefore`).
 */
async function* pagesOfLog(log: LogReads, { from, since, to, until }: EventFilter, pageEvents: number) {
  let after = from ?? (since === null ? null : await positionBefore(log, since))
  let laterInRow = 0
  while (laterInRow < readPageEventsMax) {
    const page = await log.readAll({ ...(after === null ? {} : { from: after }), limit: pageEvents })
    const last = page.at(-1)
    if (last === undefined) return
    yield page
    if (to !== null && last.position >= to) return
    after = last.position
    for (const event of page)
      laterInRow = until !== null && event.recordedAt >= until + recordedSkewMsMax ? laterInRow + 1 : 0
  }
}

/** Merges a few streams in the order of positions. */
const pagesOfStreams = (streams: readonly string[]): Pages =>
  async function* (log, filter, pageEvents) {
    const readers: StreamReader[] = []
    for (const stream of streams) readers.push(await StreamReader.open(log, { stream, filter, pageEvents }))
    let page: RecordedEvent[] = []
    while (true) {
      const next = firstInLog(readers)
      if (next?.event === undefined || isPast(next.event, filter.to)) break
      page.push(next.event)
      await next.advance()
      if (page.length < pageEvents) continue
      yield page
      page = []
    }
    yield page
  }

const isPast = ({ position }: RecordedEvent, to: number | null): boolean => to !== null && position > to

const firstInLog = (readers: readonly StreamReader[]): StreamReader | null => {
  let first: StreamReader | null = null
  for (const reader of readers) {
    if (reader.event === undefined) continue
    if (first?.event === undefined || reader.event.position < first.event.position) first = reader
  }
  return first
}

type StreamParts = { readonly stream: string; readonly filter: EventFilter; readonly pageEvents: number }

class StreamReader {
  readonly #log: LogReads
  readonly #parts: StreamParts
  #page: readonly RecordedEvent[] = []
  #index = 0

  private constructor(log: LogReads, parts: StreamParts) {
    this.#log = log
    this.#parts = parts
  }

  static async open(log: LogReads, parts: StreamParts): Promise<StreamReader> {
    const reader = new StreamReader(log, parts)
    const { stream, filter } = parts
    const { from, since } = filter
    // Times can decrease in a stream of records, so such a stream is read from its beginning.
    const isTimed = since !== null && !isRecordStream(stream)
    const first =
      from === null && !isTimed
        ? 0
        : await firstRevision(
            log,
            stream,
            ({ position, recordedAt }) => (from === null || position > from) && (!isTimed || recordedAt >= since),
          )
    await reader.#read(first)
    return reader
  }

  /** The next event; `undefined` at the end of the stream, or of the time that the filter wants. */
  get event(): RecordedEvent | undefined {
    const event = this.#page[this.#index]
    const { filter, stream } = this.#parts
    const isLater = event !== undefined && filter.until !== null && event.recordedAt >= filter.until
    return isLater && !isRecordStream(stream) ? undefined : event
  }

  async advance(): Promise<void> {
    this.#index += 1
    if (this.#index < this.#page.length) return
    const last = this.#page.at(-1)
    if (last !== undefined) await this.#read(last.revision + 1)
  }

  async #read(from: number): Promise<void> {
    this.#page = await this.#log.read(this.#parts.stream, { from, limit: this.#parts.pageEvents })
    this.#index = 0
  }
}

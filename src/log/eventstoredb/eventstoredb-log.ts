import type { NewEvent, RecordedEvent } from '../../domain/events.ts'
import { ReadingRun } from '../../domain/reading/recorded-run.ts'
import { logStream } from '../../domain/stream-names.ts'
import { isDerivedId } from '../../domain/uuid.ts'
import type { EventStoreSettings } from '../../eventstore-url.ts'
import { eventStoreShowMs, readPageEventsMax } from '../../limits.ts'
import { createCodec } from '../codec/codec.ts'
import {
  type AppendResult,
  type EventLog,
  type ExpectedRevision,
  type LogFigures,
  type LogHealth,
  type LogTrouble,
  Outage,
  type Reached,
  type ReadAllOptions,
  type ReadOptions,
  type SubscribeOptions,
  type Subscriber,
  type Subscription,
  type ToAppend,
  UndecodableEvent,
} from '../event-log.ts'
import { LogTroubles } from '../log-troubles.ts'
import { areTraffic } from '../queue-room.ts'
import {
  assertPage,
  assertStorable,
  assertTruncatable,
  countToAppend,
  eventsToAppend,
  recordedEvents,
} from '../storable.ts'
import { Appends } from './appends.ts'
import { Connection } from './connection.ts'
import { eventStoreAppendBytesMax, eventStoreReadMsMax } from './eventstoredb-bounds.ts'
import { nameOf } from './leader.ts'
import { createReads, type Reads } from './store-reads.ts'
import { StreamNames } from './store-streams.ts'
import { StoreSubscription } from './store-subscription.ts'
import { proposedEventOf, recordedEventOf, type StoredEvent } from './stored-events.ts'
import { Truncations } from './truncation.ts'
import { UnreadRevisions } from './unread-revisions.ts'
import { encodeRun } from './wire.ts'

/** A search or an export then asks again whether a stream was truncated. */
const truncationKeptMs = 1_000
/** In a row. An election takes less time, so it is not reported. */
const storeWritesFailLooks = 3

export type EventStoreLogOptions = {
  readonly settings: EventStoreSettings
  readonly onClosed?: () => void
  /** Of another client's subscription. Default: the log's own. */
  readonly reached?: () => Reached | null
}

/** @throws StoreUnreachable if no leader answers in time, StoreMisfit if waiting cannot help */
export const openEventStoreLog = async (options: EventStoreLogOptions): Promise<EventLog> => {
  const connection = new Connection(options.settings, options.settings.prefix + logStream)
  try {
    await connection.open()
  } catch (cause) {
    connection.close()
    throw cause
  }
  return new EventStoreLog(connection, options)
}

class EventStoreLog implements EventLog {
  readonly lags = true
  readonly #connection: Connection
  readonly #codec = createCodec()
  readonly #names: StreamNames
  readonly #appends: Appends
  readonly #reads: Reads
  readonly #truncations: Truncations
  readonly #onClosed: () => void
  readonly #subscriptions = new Set<StoreSubscription>()
  readonly #unread = new UnreadRevisions()
  readonly #troubles = new LogTroubles({ writesFailForLooks: storeWritesFailLooks })
  #undecodable: string | null = null
  #reached: Reached | null = null
  #isClosed = false

  constructor(connection: Connection, { settings, onClosed = () => {}, reached }: EventStoreLogOptions) {
    this.#connection = connection
    this.#onClosed = onClosed
    this.#names = new StreamNames(settings.prefix)
    this.#appends = new Appends(connection, this.#troubles)
    connection.listen({ onUp: () => this.#troubles.cameBack(), onAway: () => this.#unread.forgetAll() })
    this.#truncations = new Truncations({
      names: this.#names,
      appends: this.#appends,
      // Without a subscription, nothing tells the log of a truncation.
      ...(reached !== undefined && { keptMs: truncationKeptMs }),
      readLast: (streamName) => this.#reads.readLast(streamName),
    })
    this.#reads = createReads(connection, {
      names: this.#names,
      truncations: this.#truncations,
      reachedBySubscription: reached ?? (() => this.#reached),
      decode: (stored) => this.#decode(stored),
    })
  }

  async append(stream: string, expected: ExpectedRevision, toAppend: ToAppend): Promise<AppendResult> {
    this.#assertOpen(`append to "${stream}"`)
    assertStorable(stream, toAppend)
    const count = countToAppend(toAppend)
    const run = this.#encode(stream, toAppend)
    if (run.length > eventStoreAppendBytesMax) {
      const rule = `the most is ${eventStoreAppendBytesMax}`
      throw new Error(`Cannot append ${run.length} bytes to "${stream}" at once: ${rule}`)
    }
    const streamName = this.#names.nameOf(stream)
    const isTraffic = areTraffic(toAppend)
    const appended = await this.#appends.append({ streamName, expected, events: count, isTraffic, run })
    if (appended.outcome === 'conflict') {
      this.#unread.add(stream, appended.currentRevision)
      return appended
    }

    const revision = revisionAfter(expected)
    const last = revision + count - 1
    this.#unread.markRead(stream, last)
    const { isNew, position } = appended
    if (isNew && toAppend instanceof ReadingRun) return { outcome: 'written', events: [] }
    // Two nodes can derive the same event id, so such events are read back, to see which node wrote them.
    const events = eventsToAppend(toAppend)
    const isOwn = isNew && events.every(({ type, id }) => type === 'ReadingAccepted' || !isDerivedId(id))
    if (isOwn && position !== null && events.length === 1) {
      return { outcome: 'written', events: recordedEvents(stream, events, { revision, position }) }
    }
    if (isOwn && isTraffic) return { outcome: 'written', events: [] }
    this.#unread.add(stream, last)
    const recorded = await this.#readBack(stream, revision, count)
    // Truncated, so nobody can see which node wrote them.
    if (recorded === null) return { outcome: 'conflict', currentRevision: await this.#lastRevision(stream) }
    const isWritten = isNew && recorded.every((event, index) => isSameWrite(event, events[index]))
    return { outcome: isWritten ? 'written' : 'already_written', events: recorded }
  }

  /** A function of its own, so that no objects of readings stay in memory while the append waits. */
  #encode(stream: string, toAppend: ToAppend): Buffer {
    return encodeRun(eventsToAppend(toAppend).map((event) => proposedEventOf(stream, event)))
  }

  async read(stream: string, options: ReadOptions): Promise<readonly RecordedEvent[]> {
    this.#assertOpen(`read "${stream}"`)
    assertPage(options.limit)
    return this.#notingFaults(this.#readIndexed(stream, options))
  }

  async #readIndexed(stream: string, options: ReadOptions): Promise<readonly RecordedEvent[]> {
    for (let waitedMs = 0; waitedMs <= eventStoreReadMsMax; waitedMs += eventStoreShowMs) {
      const events = await this.#reads.read(stream, options)
      const revisions = events.map(({ revision }) => revision)
      if (!this.#unread.isMissing(stream, options, revisions)) {
        this.#unread.markRead(stream, Math.max(-1, ...revisions.slice(0, 1), ...revisions.slice(-1)))
        return events
      }
      await Bun.sleep(eventStoreShowMs)
    }
    const why = `revision ${this.#unread.of(stream)}, which the store has named, cannot be read yet`
    this.#unread.forget(stream)
    throw new Outage(`Cannot read "${stream}": ${why}`, 'not_written', 'unavailable')
  }

  async readAll(options: ReadAllOptions): Promise<readonly RecordedEvent[]> {
    this.#assertOpen('read')
    assertPage(options.limit)
    return this.#notingFaults(this.#reads.readAll(options))
  }

  async #notingFaults<T>(reading: Promise<T>): Promise<T> {
    try {
      return await reading
    } catch (cause) {
      if (cause instanceof Outage) this.#troubles.readFailed(cause.message)
      throw cause
    }
  }

  subscribe({ after, categories }: SubscribeOptions, subscriber: Subscriber): Subscription {
    this.#assertOpen('subscribe')
    if (categories === undefined && after !== null) this.#reach(after, 'event')
    const subscription = new StoreSubscription({
      connection: this.#connection,
      subscriber,
      after,
      prefixes: [...this.#names.prefixes(categories ?? null), ...this.#names.truncationPrefixes()],
      decode: (stored) => this.#decode(stored),
      onReached: (position, by) => {
        if (categories === undefined) this.#reach(position, by)
      },
      onTruncated: (streamName) => this.#truncations.forget(streamName),
      onEnd: (cause) => {
        this.#subscriptions.delete(subscription)
        if (cause instanceof UndecodableEvent) this.#undecodable = cause.message
      },
    })
    this.#subscriptions.add(subscription)
    const unsubscribe = (): void => {
      this.#subscriptions.delete(subscription)
      subscription.end()
    }
    return { unsubscribe }
  }

  reached(): Reached | null {
    return this.#reached
  }

  #reach(position: number, by: 'event' | 'checkpoint'): void {
    const { newest = null, through = -1 } = this.#reached ?? {}
    if (position <= through) return
    if (by === 'event') this.#reached = { newest: position, through: position }
    else if (newest !== null) this.#reached = { newest, through: position }
  }

  async truncate(stream: string, before: number): Promise<void> {
    this.#assertOpen(`truncate "${stream}"`)
    assertTruncatable(stream, before, ((await this.#lastRevision(stream)) ?? -1) + 1)
    if (before > 0) await this.#truncations.truncate(this.#names.nameOf(stream), before)
  }

  health(): LogHealth {
    if (this.#isClosed) return { ok: false, why: 'the log is closed' }
    if (this.#connection.link === null) return { ok: false, why: `EventStoreDB is away: ${this.#connection.why}` }
    const why = this.#undecodable ?? this.#subscriptions.values().find(({ fault }) => fault !== null)?.fault ?? null
    return why === null ? { ok: true } : { ok: false, why }
  }

  figures(): LogFigures {
    const { link, connections } = this.#connection
    const { room, figures: appends } = this.#appends
    const leader = link === null ? null : nameOf(link.endpoint)
    return { waiting: room, appends, disk: null, store: { leader, connections } }
  }

  troubles(): readonly LogTrouble[] {
    return this.#connection.link === null ? [] : this.#troubles.list()
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.#appends.close()
    const cause = new Outage('The log was closed', 'not_written', 'closed')
    for (const subscription of this.#subscriptions) subscription.drop(cause)
    this.#connection.close()
    this.#onClosed()
  }

  #decode(stored: StoredEvent): RecordedEvent {
    this.#appends.see(stored.position)
    return recordedEventOf(this.#codec, this.#names.streamOf(stored.streamName), stored)
  }

  /** The answer names only the last position. `null`: the events are truncated. */
  async #readBack(stream: string, first: number, count: number): Promise<readonly RecordedEvent[] | null> {
    const events: RecordedEvent[] = []
    while (events.length < count) {
      const next = first + events.length
      const page = await this.#readStored(stream, {
        from: next,
        limit: Math.min(readPageEventsMax, count - events.length),
      })
      if (page[0]?.revision !== next) return null
      events.push(...page)
    }
    return events
  }

  /** With `not_written`, the caller would believe that nothing was stored. */
  async #readStored(stream: string, options: ReadOptions): Promise<readonly RecordedEvent[]> {
    try {
      return await this.read(stream, options)
    } catch (cause) {
      if (!(cause instanceof Outage)) throw cause
      throw new Outage(cause.message, 'unknown', cause.reason, { cause })
    }
  }

  async #lastRevision(stream: string): Promise<number | null> {
    return (await this.#reads.readLast(this.#names.nameOf(stream)))?.revision ?? null
  }

  #assertOpen(action: string): void {
    if (this.#isClosed) throw new Outage(`Cannot ${action}: the log is closed`, 'not_written', 'closed')
  }
}

const revisionAfter = (expected: ExpectedRevision): number => (expected === 'none' ? 0 : expected + 1)

/** Another node's event has another time and request id. */
const isSameWrite = (stored: RecordedEvent, event: NewEvent | undefined): boolean =>
  stored.recordedAt === event?.recordedAt && stored.metadata.requestId === event.metadata.requestId

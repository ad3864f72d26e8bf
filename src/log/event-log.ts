/**
 * The embedded log (SQLite) and EventStoreDB implement this interface (docs/decisions/001-embedded-log-behind-a-port.md).
 */
import type { NewEvent, RecordedEvent } from '../domain/events.ts'
import type { ReadingsEnd } from '../domain/reading/readings-end.ts'
import type { LogItem, ReadingRun } from '../domain/reading/recorded-run.ts'
import type { AppendFigures } from './append-figures.ts'

/**
 * What the caller has seen: `none` if the stream did not exist, or the revision of its last event. If the stream has changed
 * since, the append is a conflict and writes nothing.
 */
export type ExpectedRevision = 'none' | number

export type ToAppend = readonly NewEvent[] | ReadingRun

export type AppendResult =
  /**
   * The events are durable. `events` is empty for a run of readings. From now on, the writer must not read the run's
   * columns: a later batch can use their lists.
   */
  | { readonly outcome: 'written'; readonly events: readonly RecordedEvent[] }
  /** Nothing was written now: an earlier try, or another node, has written events with the same ids at this revision. */
  | { readonly outcome: 'already_written'; readonly events: readonly RecordedEvent[] }
  /** Nothing was written. `currentRevision` is `null` if the stream does not exist. */
  | { readonly outcome: 'conflict'; readonly currentRevision: number | null }

export type ReadOptions = {
  /** Default: the first revision of the stream, or the last when reading backwards. */
  readonly from?: number
  readonly direction?: 'forwards' | 'backwards'
  /** 1 to `readPageEventsMax`. */
  readonly limit: number
}

export type ReadAllOptions = {
  /**
   * The event at this position is not returned. In EventStoreDB, it must be the position of an event. Default: the
   * beginning of the log, or its end when reading backwards.
   */
  readonly from?: number
  readonly direction?: 'forwards' | 'backwards'
  readonly limit: number
  /**
   * After this time, the read returns what it has found, or throws StillSearching. A read of a shared store needs it,
   * because it passes the events of other programs. Default: no end.
   */
  readonly msMax?: number
}

export type Subscriber = {
  /**
   * In the order of the log, each event once. If `onEvents` throws, the subscription ends. Afterwards, a later batch can
   * use the lists of a run's columns. So a subscriber that keeps items must make events of them first (`eventsOfItems`).
   */
  onEvents(items: readonly LogItem[]): void
  /** Called once, after all events that were in the log when the subscription began. */
  onCaughtUp?(): void
  /** To continue, subscribe again after the position of the last delivered event (`lastPositionOf`). */
  onDropped?(cause: unknown): void
}

export type Beginning = {
  readonly ends: readonly ReadingsEnd[]
  /** The last position of the log, if it has an event. */
  readonly position: number | null
}

/** `null`: nothing is known, and a start must read the whole log. */
export type ReadBeginning = (onEvent: (event: RecordedEvent) => void) => Beginning | null | Promise<Beginning | null>

export type SubscribeOptions = {
  /** A position. `null`: from the beginning of the log. */
  readonly after: number | null
  /** A category is the part of a stream's name before the first `-`. Default: all. */
  readonly categories?: readonly string[]
}

export type Subscription = { unsubscribe(): void }

export type LogHealth = { readonly ok: true } | { readonly ok: false; readonly why: string }

/** Each comes from memory, so that reading them is fast. */
export type LogFigures = {
  readonly waiting: { readonly events: number; readonly bytes: number }
  readonly appends: AppendFigures
  /** `null`: not looked at yet, or the store has the files. */
  readonly disk: DiskFigures | null
  /** `null`: the embedded log. */
  readonly store: StoreFigures | null
}

export type DiskFigures = {
  readonly freeBytes: number
  readonly reserveBytes: number
  readonly logBytes: number
  /** Of the write-ahead log. */
  readonly walBytes: number
}

export type StoreFigures = {
  /** `null`: away. */
  readonly leader: string | null
  /** To a leader, since the start. More than one means elections, or a network that failed. */
  readonly connections: number
}

export type LogTrouble = {
  readonly kind: LogTroubleKind
  readonly why: string
}

export type LogTroubleKind =
  /** The disk is full or nearly full. Only readings are refused. */
  | 'full'
  | 'unreadable'
  /** A read has met damaged events. Only requests that need them are refused, until the log is opened again. */
  | 'damaged'
  | 'unwritable'
  | 'overloaded'
  /** The last check of the free disk space failed. Nothing is refused. */
  | 'space_unknown'
  /** The witness of the embedded log cannot be written. Nothing is refused. The next commit tries again. */
  | 'unwitnessed'
  /** Another program reads the embedded log for long, so its write-ahead log grows. Nothing is refused. */
  | 'wal_held'
  /** An fsync failed, and the second try succeeded. Nothing is refused, but the disk may be damaged. */
  | 'survived_fsync'

/**
 * A read throws `UndecodableEvent` if this version cannot decode an event. Records become `RecordUnreadable` instead
 * (docs/decisions/007-records-decide-nothing.md). A read throws `DamagedLog` if its events were changed or lost.
 */
export interface EventLog {
  /**
   * Several nodes can write (EventStoreDB). Many readings can then delay a subscription, so revocations and other changes
   * come by a second one without readings.
   */
  readonly lags?: boolean
  /** Appends all events or none, at consecutive revisions. They are durable when it resolves. @throws Outage */
  append(stream: string, expected: ExpectedRevision, events: ToAppend): Promise<AppendResult>
  /**
   * No events if the stream does not exist. Shows every event that an append has reported, and every revision that a
   * conflict has named. So a caller that reads after a conflict decides on new state.
   */
  read(stream: string, options: ReadOptions): Promise<readonly RecordedEvent[]>
  /** Without `msMax`, returns fewer events than `limit` only at the end of the log. @throws StillSearching */
  readAll(options: ReadAllOptions): Promise<readonly RecordedEvent[]>
  subscribe(options: SubscribeOptions, subscriber: Subscriber): Subscription
  /**
   * Deletes the events before revision `before` in a stream of readings or records, but never its last event. Other events
   * keep their revisions and positions. No read shows deleted events, but subscriptions can deliver them until the store
   * frees their space. A second call finishes an interrupted truncation. An append at a deleted revision is not written, so
   * a late retry brings no event back. @throws Outage: call `truncate` again. Error: these events must not be deleted.
   */
  truncate(stream: string, before: number): Promise<void>
  /**
   * `lastKnown` returns the last revision that this node knows. From then on, a read that meets an earlier end throws
   * `DamagedLog`. A shared store lacks this: one of its servers can lose revisions that it has named.
   */
  checkEnds?(lastKnown: (stream: string) => number | null): void
  /**
   * Reads what a start needs, in the order of the log, without all the readings. Default: a start reads the whole log.
   * @throws DamagedLog also if only an index is damaged, and a read of the whole log meets no damage. BeginningUnusable,
   * Outage, UndecodableEvent
   */
  readBeginning?: ReadBeginning
  /** How far a subscription has come. A second client of the store needs it, to read the newest events. */
  reached?(): Reached | null
  /** Call this when another connection to the log has met this damage. */
  noteDamage?(fault: DamagedLog): void
  health(): LogHealth
  figures?(): LogFigures
  /** For `/readyz`, the log lines and the dashboard. */
  troubles?(): readonly LogTrouble[]
  /** True while all readings are refused as `full`. Checking this first saves the work of an append. */
  readonly refusesReadings?: boolean
  /** Waits until started appends are answered. Refuses later appends. */
  close(): Promise<void>
}

/** The log has no event of this program behind `newest` and up to `through`. Both are positions. */
export type Reached = { readonly newest: number; readonly through: number }

/**
 * The store cannot do the work. If `outcome` is `unknown`, the append may be stored, now or later. Then only a retry with
 * the same event ids is safe.
 */
export class Outage extends Error {
  override readonly name: string = 'Outage'
  constructor(
    message: string,
    readonly outcome: 'not_written' | 'unknown',
    readonly reason: 'unavailable' | 'full' | 'overloaded' | 'closed',
    options?: { cause?: unknown },
  ) {
    super(message, options)
  }
}

/** The store goes on for a while, and the same read returns what it finds. */
export class StillSearching extends Outage {
  override readonly name = 'StillSearching'
  /** `lookedTo` is the position that a further read begins at. `null`: an end of the log. */
  constructor(readonly lookedTo: number | null) {
    super(
      'The store is passing many events of other programs. Try again: the search goes on',
      'not_written',
      'unavailable',
    )
  }
}

/** `stream` and `revision` are `null` if the damage hides them. */
export type DamagedPlace = {
  readonly stream: string | null
  readonly revision: number | null
  readonly position: number | null
}

/**
 * Events were changed or lost, for example by the disk. Whoever needs them meets this outage until a backup is restored.
 */
export class DamagedLog extends Outage {
  override readonly name = 'DamagedLog'
  constructor(
    readonly place: DamagedPlace,
    readonly why: string,
    options?: { cause?: unknown },
  ) {
    const { stream, revision, position } = place
    const inStream = stream === null ? [] : [`revision ${revision ?? 'unknown'} of "${stream}"`]
    const inLog = position === null ? [] : [`position ${position}`]
    const at = stream === null && position === null ? '' : ` at ${[...inStream, ...inLog].join(', ')}`
    const remedy = 'Check the disk, and restore a backup into an empty data folder'
    super(`The log is damaged${at}: ${why}. ${remedy}`, 'not_written', 'unavailable', options)
  }
}

/** The log, its folder or its store cannot be used as it is. A person must do what the message says. */
export class LogUnusable extends Error {
  override readonly name: string = this.constructor.name
}

/** What a start would read in place of the whole log cannot be used. The whole log can. */
export class BeginningUnusable extends Error {
  override readonly name = 'BeginningUnusable'
}

/** Thrown, and the event never skipped, because decisions without it could be wrong. */
export class UndecodableEvent extends Error {
  override readonly name = 'UndecodableEvent'
  constructor(
    readonly stream: string,
    readonly revision: number,
    readonly type: string,
    readonly why: string,
    options?: { cause?: unknown },
  ) {
    super(`Cannot decode event ${type} at revision ${revision} of "${stream}": ${why}`, options)
  }
}

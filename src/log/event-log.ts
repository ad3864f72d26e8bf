/** The port of the log, which each engine implements. It knows nothing of keys or cellars. */
import type { NewEvent, RecordedEvent } from '../domain/events.ts'

/** `none` means that the stream must not exist. A number is the revision that its last event must have. */
export type ExpectedRevision = 'none' | number

export type AppendResult =
  /**
   * The events are durable. For several readings `events` may be empty: some engines would have to read them again to
   * learn their positions.
   */
  | { readonly outcome: 'written'; readonly events: readonly RecordedEvent[] }
  /** Nothing was written now: an earlier try has written events with the same ids at this revision. */
  | { readonly outcome: 'already_written'; readonly events: readonly RecordedEvent[] }
  /** Nothing was written. `currentRevision` is `null` if the stream does not exist. */
  | { readonly outcome: 'conflict'; readonly currentRevision: number | null }

export type ReadOptions = {
  /** Revision to start at, inclusive. Default: the first of the stream, or the last when reading backwards. */
  readonly from?: number
  readonly direction?: 'forwards' | 'backwards'
  /** Maximum number of events, 1 to `readPageEventsMax`. */
  readonly limit: number
}

export type ReadAllOptions = {
  /** Position to start from, exclusive. Default: the beginning of the log, or its end when reading backwards. */
  readonly from?: number
  readonly direction?: 'forwards' | 'backwards'
  readonly limit: number
}

export type Subscriber = {
  /** Called with events in log order, each event once. Must not throw. */
  onEvents(events: readonly RecordedEvent[]): void
  /** Called once, after all events that were in the log when the subscription began. */
  onCaughtUp?(): void
  /** Called if the subscription failed. A new one can resume after the last delivered position. */
  onDropped?(cause: unknown): void
}

export type SubscribeOptions = {
  /** Position to start after. `null` starts at the beginning of the log. */
  readonly after: number | null
  /**
   * Only streams of these categories are delivered. A category is the stream's name before the first `-`. Default: all.
   */
  readonly categories?: readonly string[]
}

export type Subscription = { unsubscribe(): void }

export type LogHealth = { readonly ok: true } | { readonly ok: false; readonly why: string }

export type LogTrouble = {
  readonly kind: LogTroubleKind
  /** The reason, in the engine's words. */
  readonly why: string
}

export type LogTroubleKind =
  /** The disk is full: only readings are refused. */
  | 'full'
  | 'unreadable'
  | 'unwritable'
  | 'overloaded'
  /** The free space of the disk cannot be read. Nothing is refused. */
  | 'space_unknown'
  /** A write failed once and then succeeded. Nothing is refused, but the disk may be failing. */
  | 'survived_fsync'

/**
 * Reading an event that cannot be decoded throws `UndecodableEvent`. In a stream of records it returns a
 * `RecordUnreadable` instead.
 */
export interface EventLog {
  /**
   * True if several nodes may write, and a flood of readings may delay a subscription. So changes of keys have a
   * subscription of their own.
   */
  readonly lags?: boolean
  /** Appends all events or none, at consecutive revisions. Resolves when they are durable. @throws Outage */
  append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<AppendResult>
  /**
   * Returns no events for an unknown stream. A read sees every event that an append has reported as written, and every
   * revision that a conflict has reported.
   */
  read(stream: string, options: ReadOptions): Promise<readonly RecordedEvent[]>
  readAll(options: ReadAllOptions): Promise<readonly RecordedEvent[]>
  subscribe(options: SubscribeOptions, subscriber: Subscriber): Subscription
  /**
   * Deletes readings or records before revision `before`, but never the last event of a stream. The revisions and
   * positions of other events stay the same. `readAll` and subscriptions may show deleted events until the engine frees
   * their space. Calling it again finishes an interrupted truncation. An append at a deleted revision is not written.
   * @throws Outage: call `truncate` again. Error: the range may not be deleted.
   */
  truncate(stream: string, before: number): Promise<void>
  health(): LogHealth
  /** Problems of a log that still works at least in part. Default: none. */
  troubles?(): readonly LogTrouble[]
  /** True while all readings are refused as `full`. Checking it first saves the work of an append. */
  readonly refusesReadings?: boolean
  /** Waits for appends under way, and refuses later ones. */
  close(): Promise<void>
}

/** The store could not do what was asked. `outcome` is `unknown` if the append may be written all the same. */
export class Outage extends Error {
  override readonly name = 'Outage'
  constructor(
    message: string,
    readonly outcome: 'not_written' | 'unknown',
    readonly reason: 'unavailable' | 'full' | 'overloaded' | 'closed',
    options?: { cause?: unknown },
  ) {
    super(message, options)
  }
}

/**
 * This version cannot read a stored event. Such an event is never skipped: state that lacks an event would be wrong.
 */
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

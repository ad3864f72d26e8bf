/** The port of the log, which each engine implements. It knows nothing of keys or cellars. */
import type { NewEvent, RecordedEvent } from '../domain/events.ts'

/** `none` means that the stream must not exist. A number is the revision that its last event must have. */
export type ExpectedRevision = 'none' | number

export type AppendResult =
  /**
   * The events are durable. `events` may be empty for several readings, because some engines do not tell their
   * positions.
   */
  | { readonly outcome: 'written'; readonly events: readonly RecordedEvent[] }
  /** An earlier try has written events with the same ids at this revision. */
  | { readonly outcome: 'already_written'; readonly events: readonly RecordedEvent[] }
  /** `currentRevision` is `null` if the stream does not exist. */
  | { readonly outcome: 'conflict'; readonly currentRevision: number | null }

export type ReadOptions = {
  /** Inclusive. Default: the first revision of the stream, or the last when reading backwards. */
  readonly from?: number
  readonly direction?: 'forwards' | 'backwards'
  /** Events, 1 to `readPageEventsMax`. */
  readonly limit: number
}

export type ReadAllOptions = {
  /** Position, exclusive. Default: the beginning of the log, or its end when reading backwards. */
  readonly from?: number
  readonly direction?: 'forwards' | 'backwards'
  readonly limit: number
}

export type Subscriber = {
  /** Receives events in log order, each event once. Must not throw. */
  onEvents(events: readonly RecordedEvent[]): void
  /** Called once, after all events that were in the log when the subscription began. */
  onCaughtUp?(): void
  /** The subscription failed. A new one can resume after the last delivered position. */
  onDropped?(cause: unknown): void
}

export type SubscribeOptions = {
  /** Position, exclusive. `null` starts at the beginning of the log. */
  readonly after: number | null
  /** A category is the part of a stream's name before the first `-`. Default: all. */
  readonly categories?: readonly string[]
}

export type Subscription = { unsubscribe(): void }

export type LogHealth = { readonly ok: true } | { readonly ok: false; readonly why: string }

export type LogTrouble = {
  readonly kind: LogTroubleKind
  /** In the engine's words. */
  readonly why: string
}

export type LogTroubleKind =
  /** The disk is full: only readings are refused. */
  | 'full'
  | 'unreadable'
  | 'unwritable'
  | 'overloaded'
  /** The free disk space is unknown. Nothing is refused. */
  | 'space_unknown'
  /** A failed write was repeated successfully. Nothing is refused. */
  | 'survived_fsync'

/**
 * Reading an event that cannot be decoded throws `UndecodableEvent`. In a stream of records it returns a
 * `RecordUnreadable` instead.
 */
export interface EventLog {
  /**
   * True if several nodes may write. A flood of readings may then delay a subscription, so nodes follow changes of keys
   * by a second one.
   */
  readonly lags?: boolean
  /** Appends all events or none, at consecutive revisions. Resolves when they are durable. @throws Outage */
  append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<AppendResult>
  /**
   * Returns no events for an unknown stream. Shows every event that an append has reported, and every revision that a
   * conflict has named.
   */
  read(stream: string, options: ReadOptions): Promise<readonly RecordedEvent[]>
  readAll(options: ReadAllOptions): Promise<readonly RecordedEvent[]>
  subscribe(options: SubscribeOptions, subscriber: Subscriber): Subscription
  /**
   * Deletes readings or records before revision `before`, but never the last event of a stream. Other events keep their
   * revisions and positions. `readAll` and subscriptions may show deleted events until the engine frees their space. A
   * second call finishes an interrupted truncation. An append at a deleted revision is not written.
   * @throws Outage: truncate again. Error: the range may not be deleted.
   */
  truncate(stream: string, before: number): Promise<void>
  health(): LogHealth
  /** Default: none. */
  troubles?(): readonly LogTrouble[]
  /** True while all readings are refused as `full`. Checking it first saves the work of an append. */
  readonly refusesReadings?: boolean
  /** Waits for appends under way, and refuses later ones. */
  close(): Promise<void>
}

/** `outcome` is `unknown` if the append may be written all the same. */
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

/** This version cannot read a stored event. Such an event is never skipped. */
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

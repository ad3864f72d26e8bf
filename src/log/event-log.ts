/** The port of the log: how events are stored, ordered, read and followed. The log knows nothing of keys or cellars. */
import type { NewEvent, RecordedEvent } from '../domain/events.ts'

/** `none`: the stream must not exist. A number: the exact revision of its last event. */
export type ExpectedRevision = 'none' | number

export type AppendResult =
  /**
   * Durable. `events` may be empty for several readings: nobody asks for their positions, and an engine would have to
   * read them.
   */
  | { readonly outcome: 'written'; readonly events: readonly RecordedEvent[] }
  /** An earlier try has written the same ids at this revision. Nothing was written now. */
  | { readonly outcome: 'already_written'; readonly events: readonly RecordedEvent[] }
  /** Nothing was written. `null`: the stream does not exist. */
  | { readonly outcome: 'conflict'; readonly currentRevision: number | null }

export type ReadOptions = {
  /** First revision, inclusive. Default: the first of the stream (forwards), or the last (backwards). */
  readonly from?: number
  readonly direction?: 'forwards' | 'backwards'
  /** Events, 1 to `readPageEventsMax`. */
  readonly limit: number
}

export type ReadAllOptions = {
  /** Position, exclusive. Default: the begin of the log (forwards), or its end (backwards). */
  readonly from?: number
  readonly direction?: 'forwards' | 'backwards'
  readonly limit: number
}

export type Subscriber = {
  /** In log order, each event once. Must not throw. */
  onEvents(events: readonly RecordedEvent[]): void
  /** Called once, after all events from before the subscription. */
  onCaughtUp?(): void
  /** The subscription failed. A new one can resume after the last delivered position. */
  onDropped?(cause: unknown): void
}

export type SubscribeOptions = {
  /** Exclusive. `null`: from the beginning. */
  readonly after: number | null
  /** The category is the stream's name up to the first `-`. Default: all. */
  readonly categories?: readonly string[]
}

export type Subscription = { unsubscribe(): void }

/** Whether anything can be appended. */
export type LogHealth = { readonly ok: true } | { readonly ok: false; readonly why: string }

/** The log can still append something. */
export type LogTrouble = { readonly kind: LogTroubleKind /** In the engine's words. */; readonly why: string }

export type LogTroubleKind =
  /** Readings are refused, because the disk is full. Everything else is written. */
  | 'full'
  | 'unreadable'
  | 'unwritable'
  | 'overloaded'
  /** Nothing is refused. */
  | 'space_unknown'
  | 'survived_fsync'

/** An unreadable event throws `UndecodableEvent`. In a stream of records it is read as `RecordUnreadable`. */
export interface EventLog {
  /**
   * Several nodes may write, and subscriptions may fall behind under load. An urgent follower subscribes to its own
   * streams.
   */
  readonly lags?: boolean
  /**
   * Appends all events or none, at consecutive revisions. Resolves when they are durable. @throws Outage, whose
   * `outcome` says whether they may be written
   */
  append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<AppendResult>
  /**
   * Events of one stream, or empty. Includes every event that an append has answered with, and every revision that a
   * conflict has named.
   */
  read(stream: string, options: ReadOptions): Promise<readonly RecordedEvent[]>
  /** Events of the whole log, in position order. */
  readAll(options: ReadAllOptions): Promise<readonly RecordedEvent[]>
  subscribe(options: SubscribeOptions, subscriber: Subscriber): Subscription
  /**
   * Deletes the readings or records of one stream before revision `before`. The last event of a stream stays.
   * Afterwards reads begin at `before`; revisions and positions stay. `readAll` and subscriptions may show deleted
   * events until the engine frees their space. Repeating is harmless, and finishes an interrupted truncation. An append
   * at a deleted revision is not written. @throws Outage: truncate again. Error for a range that may not be deleted: a
   * bug
   */
  truncate(stream: string, before: number): Promise<void>
  health(): LogHealth
  /** Default: none. */
  troubles?(): readonly LogTrouble[]
  /** True while all readings are refused as `full`. Asking first saves the work of an append. */
  readonly refusesReadings?: boolean
  /** Waits for appends under way, refuses later appends, and releases the store. */
  close(): Promise<void>
}

/** `outcome` says whether the append may be written all the same. */
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

/** This version cannot read a stored event. Nothing is skipped. */
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

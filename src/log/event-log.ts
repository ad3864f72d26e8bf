/** The port of the log. It knows nothing of keys or cellars. */
import type { NewEvent, RecordedEvent } from '../domain/events.ts'

/** `none`: the stream must not exist. A number: the revision of its last event. */
export type ExpectedRevision = 'none' | number

export type AppendResult =
  /** Durable. `events` may be empty for several readings: an engine would have to read their positions. */
  | { readonly outcome: 'written'; readonly events: readonly RecordedEvent[] }
  /** An earlier try has written the same ids at this revision. */
  | { readonly outcome: 'already_written'; readonly events: readonly RecordedEvent[] }
  /** `null`: the stream does not exist. */
  | { readonly outcome: 'conflict'; readonly currentRevision: number | null }

export type ReadOptions = {
  /** First revision, inclusive. Default: the first (forwards) or last (backwards) of the stream. */
  readonly from?: number
  readonly direction?: 'forwards' | 'backwards'
  /** Events, 1 to `readPageEventsMax`. */
  readonly limit: number
}

export type ReadAllOptions = {
  /** Position, exclusive. Default: the beginning (forwards) or end (backwards) of the log. */
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
  /** Stream names up to the first `-`. Default: all. */
  readonly categories?: readonly string[]
}

export type Subscription = { unsubscribe(): void }

export type LogHealth = { readonly ok: true } | { readonly ok: false; readonly why: string }

export type LogTrouble = { readonly kind: LogTroubleKind /** In the engine's words. */; readonly why: string }

export type LogTroubleKind =
  /** The disk is full: only readings are refused. */
  | 'full'
  | 'unreadable'
  | 'unwritable'
  | 'overloaded'
  /** Nothing is refused. */
  | 'space_unknown'
  | 'survived_fsync'

/** An unreadable event throws `UndecodableEvent`, or is a `RecordUnreadable` in a stream of records. */
export interface EventLog {
  /** Several nodes may write, and subscriptions may lag. An urgent follower subscribes to its own streams. */
  readonly lags?: boolean
  /** All events or none, at consecutive revisions. Resolves when they are durable. @throws Outage */
  append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<AppendResult>
  /**
   * Empty for an unknown stream. Shows every event that an append has answered with, and every revision that a conflict
   * has named.
   */
  read(stream: string, options: ReadOptions): Promise<readonly RecordedEvent[]>
  readAll(options: ReadAllOptions): Promise<readonly RecordedEvent[]>
  subscribe(options: SubscribeOptions, subscriber: Subscriber): Subscription
  /**
   * Deletes readings or records before revision `before`, but never the last event of a stream. Revisions and positions
   * stay. `readAll` and subscriptions may show deleted events until the engine frees their space. Repeating finishes an
   * interrupted truncation. An append at a deleted revision is not written.
   * @throws Outage: truncate again. Error: the range may not be deleted.
   */
  truncate(stream: string, before: number): Promise<void>
  health(): LogHealth
  /** Default: none. */
  troubles?(): readonly LogTrouble[]
  /** All readings are refused as `full`. Asking first saves the work of an append. */
  readonly refusesReadings?: boolean
  /** Waits for appends under way, and refuses later ones. */
  close(): Promise<void>
}

/** `outcome`: whether the append may be written all the same. */
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

/** This version cannot read a stored event, and never skips one. */
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

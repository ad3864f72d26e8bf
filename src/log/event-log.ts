/**
 * The log: one port, and its adapters beside it. Here live how events are stored, ordered, read and followed; nothing
 * here knows what a key or a cellar is. An adapter imports the port and the domain's event schemas, nothing else.
 */
import type { NewEvent, RecordedEvent } from '../domain/events.ts'

/** `none`: the stream must not exist. A number: the revision of its last event, exactly. There is no "any". */
export type ExpectedRevision = 'none' | number

export type AppendResult =
  /**
   * Durable. `events` are the given ones with stream, revision and position; of several readings there may be none, since
   * an engine would have to read them again to say where each lies, and nobody asks.
   */
  | { readonly outcome: 'written'; readonly events: readonly RecordedEvent[] }
  /** The same ids already lie at that very place: an earlier try had succeeded. Nothing was written now. */
  | { readonly outcome: 'already_written'; readonly events: readonly RecordedEvent[] }
  /** Nothing was written. `currentRevision` is `null` if the stream does not exist. */
  | { readonly outcome: 'conflict'; readonly currentRevision: number | null }

export type ReadOptions = {
  /** First revision to return, inclusive. Default: the stream's first forwards, its last backwards. */
  readonly from?: number
  readonly direction?: 'forwards' | 'backwards'
  /** At most this many events, 1 to `readPageEventsMax`. */
  readonly limit: number
}

export type ReadAllOptions = {
  /** Exclusive: returns what comes after it (forwards) or before it (backwards). Default: from the end one starts at. */
  readonly from?: number
  readonly direction?: 'forwards' | 'backwards'
  readonly limit: number
}

export type Subscriber = {
  /** In log order, each event once. Must not throw. */
  onEvents(events: readonly RecordedEvent[]): void
  /** Called once everything that lay in the log when the subscription began has been delivered. */
  onCaughtUp?(): void
  /** The subscription ended without being asked to; a new one resumes from the last position that was delivered. */
  onDropped?(cause: unknown): void
}

export type SubscribeOptions = {
  /** Exclusive. `null`: from the beginning. */
  readonly after: number | null
  /** Only streams of these categories (the part of the name before the first `-`). Default: all. */
  readonly categories?: readonly string[]
}

export type Subscription = { unsubscribe(): void }

/** Whether anything can be appended at all. */
export type LogHealth = { readonly ok: true } | { readonly ok: false; readonly why: string }

/** A trouble of a log that can still append something. */
export type LogTrouble = { readonly kind: LogTroubleKind /** In the engine's words. */; readonly why: string }

export type LogTroubleKind =
  /** Readings are refused for want of space; everything else is still written. */
  | 'full'
  | 'unreadable'
  | 'unwritable'
  | 'overloaded'
  /** Nothing is refused. */
  | 'space_unknown'
  | 'survived_fsync'

/** An event that can't be read is an `UndecodableEvent`; in a stream of records it is read as `RecordUnreadable` instead. */
export interface EventLog {
  /**
   * Several nodes may write to it, and subscriptions may fall behind under load. Whoever must hear of a few streams soon
   * follows those by themselves.
   */
  readonly lags?: boolean
  /**
   * Appends all events or none, in one revision after the other. Resolves only after they are durable.
   * @throws Outage when the store can't say: see its `outcome`.
   */
  append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<AppendResult>
  /**
   * Events of one stream; empty if it does not exist or there are none in that direction. Shows what any answer to an append
   * has told of: what was written, and what a conflict named.
   */
  read(stream: string, options: ReadOptions): Promise<readonly RecordedEvent[]>
  /** Events of the whole log, in position order. */
  readAll(options: ReadAllOptions): Promise<readonly RecordedEvent[]>
  subscribe(options: SubscribeOptions, subscriber: Subscriber): Subscription
  /**
   * Takes the events of one stream below revision `before` away, for good. From the answer on reads of the stream begin at
   * `before`; its revisions, positions and end stay as they were. Only readings and records may go, and never the last event
   * of a stream.
   * `readAll` and subscriptions go on with what is left, also one that is behind; an engine that frees its space later may
   * show there until then what is gone. To truncate again, or to less, changes nothing, and finishes what a stopped process
   * left. An append at a place that is gone is not written; whether it was there before, an engine may no longer know.
   * @throws Outage, of which the remedy is to truncate again. Error if the stream may not be truncated so far: a bug.
   */
  truncate(stream: string, before: number): Promise<void>
  health(): LogHealth
  /** Default: none. */
  troubles?(): readonly LogTrouble[]
  /** Whether every append of readings is refused as `full` now. Asking here first saves the work before an append. */
  readonly refusesReadings?: boolean
  /** Waits for appends under way, refuses later ones, releases the store. */
  close(): Promise<void>
}

/** The store could not do it. `outcome` says whether the append may have happened all the same. */
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

/** A stored event that this version can't read. The service refuses to guess: nothing is skipped. */
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

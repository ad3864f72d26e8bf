/**
 * Subscriptions of a log that lies in this process. A follower reads page by page until it reaches the end, and from that
 * very moment gets what is committed: both happen between two turns of the event loop, so nothing falls between them.
 *
 * The log must publish from a turn of its own, never from inside a subscriber: then no delivery can overtake another.
 */

import type { RecordedEvent } from '../domain/events.ts'
import { categoryOf, foldedCategories } from '../domain/stream-names.ts'
import type { SubscribeOptions, Subscriber, Subscription } from './event-log.ts'

/** A piece of the log: the events in it that were wanted, and how far it reaches. */
export type Scan = {
  readonly events: readonly RecordedEvent[]
  /** Position of the last event looked at, wanted or not; where the scan began, if there was none. */
  readonly scannedTo: number | null
  /** Nothing comes after `scannedTo` now. */
  readonly atEnd: boolean
}

/** Whether a follower wants streams of that category. */
export type Wants = (category: string) => boolean

/** Looks at a bounded piece of the log after that position. */
export type Scanner = (after: number | null, wants: Wants) => Scan

type Follower = {
  readonly subscriber: Subscriber
  readonly wants: Wants
  readonly wantsAllButRecords: boolean
  after: number | null
  ended: boolean
}

export class Subscriptions {
  readonly #scan: Scanner
  readonly #followers = new Set<Follower>()
  /** Those that have reached the end of the log. */
  readonly #live = new Set<Follower>()

  constructor(scan: Scanner) {
    this.#scan = scan
  }

  subscribe(options: SubscribeOptions, subscriber: Subscriber): Subscription {
    const categories = options.categories === undefined ? null : new Set(options.categories)
    const follower: Follower = {
      subscriber,
      wants: (category) => categories === null || categories.has(category),
      wantsAllButRecords: foldedCategories.every((category) => categories?.has(category) ?? true),
      after: options.after,
      ended: false,
    }
    this.#followers.add(follower)
    // Not at once: the caller must hold the subscription before its first event can make it unsubscribe.
    queueMicrotask(() => this.#catchUp(follower))
    return { unsubscribe: () => this.#end(follower) }
  }

  /**
   * Hands on events that have just become durable, in log order. Without records among them, no category is looked up: that would
   * cost time for each reading.
   */
  publish(events: readonly RecordedEvent[], { hasRecords }: { readonly hasRecords: boolean }): void {
    const first = events[0]
    if (first === undefined) return
    for (const follower of this.#live) {
      // What is committed can be read before it is published, so the first page of news may be no news to a follower.
      const wantsAll = follower.wantsAllButRecords && !hasRecords && (follower.after ?? 0) < first.position
      this.#deliver(follower, wantsAll ? events : events.filter((event) => isNews(follower, event)))
    }
  }

  /** Ends every subscription and says why. */
  dropAll(cause: unknown): void {
    for (const follower of this.#followers) this.#drop(follower, cause)
  }

  #catchUp(follower: Follower): void {
    if (follower.ended) return
    let scan: Scan
    try {
      scan = this.#scan(follower.after, follower.wants)
    } catch (cause) {
      this.#drop(follower, cause)
      return
    }
    follower.after = scan.scannedTo
    this.#deliver(follower, scan.events)
    if (!scan.atEnd) {
      // A page, then a turn for everybody else: a long catch-up must not hold up the readings that come in meanwhile.
      setImmediate(() => this.#catchUp(follower))
      return
    }
    if (follower.ended) return
    this.#live.add(follower)
    this.#tell(follower, () => follower.subscriber.onCaughtUp?.())
  }

  #deliver(follower: Follower, events: readonly RecordedEvent[]): void {
    if (events.length === 0) return
    this.#tell(follower, () => follower.subscriber.onEvents(events))
  }

  /** A subscriber that throws has lost its place: it is dropped, and neither the log nor its neighbours notice. */
  #tell(follower: Follower, call: () => void): void {
    try {
      call()
    } catch (cause) {
      this.#drop(follower, cause)
    }
  }

  #drop(follower: Follower, cause: unknown): void {
    if (follower.ended) return
    this.#end(follower)
    try {
      follower.subscriber.onDropped?.(cause)
    } catch {
      // It was told, and nobody else waits for its answer.
    }
  }

  #end(follower: Follower): void {
    follower.ended = true
    this.#followers.delete(follower)
    this.#live.delete(follower)
  }
}

const isNews = ({ after, wants }: Follower, { position, stream }: RecordedEvent): boolean =>
  position > (after ?? 0) && wants(categoryOf(stream))

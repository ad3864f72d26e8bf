/**
 * A follower reads pages until the end of the log, and then receives each commit. Both happen in one turn of the event
 * loop, so no event is lost between them. The log must not publish from inside a subscriber: a later delivery could
 * overtake an earlier one.
 */

import type { RecordedEvent } from '../domain/events.ts'
import { categoryOf, foldedCategories } from '../domain/stream-names.ts'
import type { SubscribeOptions, Subscriber, Subscription } from './event-log.ts'

export type Scan = {
  readonly events: readonly RecordedEvent[]
  /** Position of the last scanned event, or the start of the scan. */
  readonly scannedTo: number | null
  readonly atEnd: boolean
}

export type Wants = (category: string) => boolean

/** Scans a limited number of events per call, so that one follower cannot block the others. */
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
  /** Followers that have reached the end of the log. */
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
    // Not now: the caller must be able to unsubscribe when it receives the first event.
    queueMicrotask(() => this.#catchUp(follower))
    return { unsubscribe: () => this.#end(follower) }
  }

  /**
   * `events` are in log order. Without records, most followers want all events. Then no category is looked up, which
   * saves time for each reading.
   */
  publish(events: readonly RecordedEvent[], { hasRecords }: { readonly hasRecords: boolean }): void {
    const first = events[0]
    if (first === undefined) return
    for (const follower of this.#live) {
      // A catch-up may deliver committed events before they are published. They must not be delivered twice.
      const wantsAll = follower.wantsAllButRecords && !hasRecords && (follower.after ?? 0) < first.position
      this.#deliver(follower, wantsAll ? events : events.filter((event) => isNewAndWanted(follower, event)))
    }
  }

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
      // A long catch-up must not delay incoming readings.
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

  /** A subscriber that throws may have missed events, so it is dropped. */
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
      // The subscription has ended, so nobody needs this error.
    }
  }

  #end(follower: Follower): void {
    follower.ended = true
    this.#followers.delete(follower)
    this.#live.delete(follower)
  }
}

const isNewAndWanted = ({ after, wants }: Follower, { position, stream }: RecordedEvent): boolean =>
  position > (after ?? 0) && wants(categoryOf(stream))

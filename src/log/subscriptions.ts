/**
 * A follower reads pages until the end, and then receives each commit. Both happen in one turn of the event loop, so no
 * event is lost between them.
 *
 * The log must publish in a turn of its own. Otherwise one delivery could overtake another.
 */

import type { RecordedEvent } from '../domain/events.ts'
import { categoryOf, foldedCategories } from '../domain/stream-names.ts'
import type { SubscribeOptions, Subscriber, Subscription } from './event-log.ts'

export type Scan = {
  readonly events: readonly RecordedEvent[]
  /** Position of the last event looked at, or the start of the scan. */
  readonly scannedTo: number | null
  readonly atEnd: boolean
}

export type Wants = (category: string) => boolean

/** Looks at a bounded number of events. */
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
  /** At the end of the log. */
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
    // Not now: the caller must be able to unsubscribe in the first event.
    queueMicrotask(() => this.#catchUp(follower))
    return { unsubscribe: () => this.#end(follower) }
  }

  /** In log order. Without records no category is looked up, which saves time for each reading. */
  publish(events: readonly RecordedEvent[], { hasRecords }: { readonly hasRecords: boolean }): void {
    const first = events[0]
    if (first === undefined) return
    for (const follower of this.#live) {
      // Events can be read before they are published.
      const wantsAll = follower.wantsAllButRecords && !hasRecords && (follower.after ?? 0) < first.position
      this.#deliver(follower, wantsAll ? events : events.filter((event) => isNews(follower, event)))
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
      // A long catch-up must not delay readings.
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

  /** A subscriber that throws has lost its place. */
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
      // Nobody waits for the subscriber's answer.
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

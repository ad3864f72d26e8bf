/**
 * A follower is one subscription. In the turn of the event loop of its last page, it begins to receive each commit, so it
 * misses no event. Do not call `publish` from a subscriber: new events would overtake older ones.
 */

import type { RecordedEvent } from '../domain/events.ts'
import { isRun, type LogItem, lastPositionOf } from '../domain/reading/recorded-run.ts'
import { categoryOf, foldedCategories } from '../domain/stream-names.ts'
import type { SubscribeOptions, Subscriber, Subscription } from './event-log.ts'

export type Scan = {
  readonly events: readonly RecordedEvent[]
  /** Also of an event that the follower does not want. If none was read: where the scan began. */
  readonly scannedTo: number | null
  readonly atEnd: boolean
}

export type Wants = (category: string) => boolean

/** A limited number of events per call, so that one follower cannot block the others. */
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
  /** They receive each commit. */
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
    // Later, so that the caller has `unsubscribe` before the first events.
    queueMicrotask(() => this.#catchUp(follower))
    return { unsubscribe: () => this.#end(follower) }
  }

  /** `items` are in order. Most followers want all but records, so `hasRecords` saves a check of each category. */
  publish(items: readonly LogItem[], { hasRecords }: { readonly hasRecords: boolean }): void {
    const first = items[0]
    if (first === undefined) return
    for (const follower of this.#live) {
      // The last page can already contain events of this commit, which are not delivered again.
      const wantsAll = follower.wantsAllButRecords && !hasRecords && (follower.after ?? 0) < first.position
      this.#deliver(follower, wantsAll ? items : items.flatMap((item) => newAndWanted(follower, item)))
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
      // In a later turn, so that requests do not wait for a long log.
      setImmediate(() => this.#catchUp(follower))
      return
    }
    if (follower.ended) return
    this.#live.add(follower)
    this.#tell(follower, () => follower.subscriber.onCaughtUp?.())
  }

  #deliver(follower: Follower, items: readonly LogItem[]): void {
    if (items.length === 0) return
    this.#tell(follower, () => follower.subscriber.onEvents(items))
  }

  /** A subscriber that throws may have missed events. */
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
      // The subscription has already ended.
    }
  }

  #end(follower: Follower): void {
    follower.ended = true
    this.#followers.delete(follower)
    this.#live.delete(follower)
  }
}

/** A run is one row and is published whole: a page that ended inside it would bring the rest as events. */
const newAndWanted = ({ after, wants }: Follower, item: LogItem): readonly LogItem[] => {
  const from = after ?? 0
  if (lastPositionOf(item) <= from || !wants(categoryOf(item.stream))) return []
  if (isRun(item) && item.position <= from) return item.events().filter(({ position }) => position > from)
  return [item]
}

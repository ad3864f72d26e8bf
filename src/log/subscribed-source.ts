import type { RecordedEvent } from '../domain/events.ts'
import { isRun, itemCount, type LogItem, lastPositionOf } from '../domain/reading/recorded-run.ts'
import { isRecordStream } from '../domain/stream-names.ts'
import { readPageEventsMax } from '../limits.ts'
import type { EventLog, Subscription } from './event-log.ts'
import type { Beginning, Source, SourcePage } from './source.ts'

/** About 1 KB each. Further ones are read when a slow reader asks. */
export const sourceWaitingEventsMax = 10_000

/** What a subscription has delivered, and nobody has asked for yet. */
type Live = {
  readonly subscription: Subscription
  /** `waiting` has all events after this position that the log had when it was delivered. */
  from: number | null
  waiting: LogItem[]
  waitingEvents: number
  isCaughtUp: boolean
}

/**
 * A reader that is behind gets pages of reads. At the end of the log it gets what a subscription has delivered, because a
 * read would pass the events of other programs each time.
 */
export class SubscribedSource implements Source {
  readonly #log: EventLog
  #live: Live | null = null

  /** Closes the log when it is closed itself. */
  constructor(log: EventLog) {
    this.#log = log
  }

  async after(position: number | null): Promise<SourcePage> {
    const live = this.#live
    if (live?.isCaughtUp === true && isAtOrAfter(position, live.from)) return takeFrom(live, position)
    const items = await this.#log.readAll({
      ...(position === null ? {} : { from: position }),
      limit: readPageEventsMax,
    })
    const scannedTo = items.at(-1)?.position ?? position
    const atEnd = items.length < readPageEventsMax
    if (atEnd && this.#live === null) this.#subscribe(scannedTo)
    return { items, scannedTo, atEnd }
  }

  /** Backwards, because a store cannot be searched by time. The times of records can be wrong. */
  async beginningOf({ nowMs, keptMs }: Beginning): Promise<number | null> {
    let newestMs: number | null = null
    for (let from: number | null = null; ; ) {
      const page: readonly RecordedEvent[] = await this.#log.readAll({
        direction: 'backwards',
        limit: readPageEventsMax,
        ...(from !== null && { from }),
      })
      const last = page.at(-1)
      if (last === undefined || page.length < readPageEventsMax) return null
      const trusted = page.filter(({ stream }) => !isRecordStream(stream))
      const oldest = trusted.at(-1)
      newestMs ??= trusted[0]?.recordedAt ?? null
      if (oldest !== undefined && oldest.recordedAt < Math.min(nowMs, newestMs ?? nowMs) - keptMs)
        return oldest.position
      from = last.position
    }
  }

  async close(): Promise<void> {
    this.#end()
    await this.#log.close()
  }

  #subscribe(from: number | null): void {
    const subscription = this.#log.subscribe(
      { after: from },
      {
        onEvents: (items) => this.#deliver(live, items),
        onCaughtUp: () => {
          live.isCaughtUp = true
        },
        // The next page is read. If the fault lasts, the read throws it.
        onDropped: () => this.#end(),
      },
    )
    const live: Live = { subscription, from, waiting: [], waitingEvents: 0, isCaughtUp: false }
    this.#live = live
  }

  /** If too much waits, the rest is read when the reader asks. */
  #deliver(live: Live, items: readonly LogItem[]): void {
    for (const item of items) {
      // After this call the log uses the run's columns again for other readings, so we copy its events now.
      if (isRun(item)) live.waiting.push(...item.events())
      else live.waiting.push(item)
      live.waitingEvents += itemCount(item)
    }
    if (live.waitingEvents > sourceWaitingEventsMax) this.#end()
  }

  #end(): void {
    this.#live?.subscription.unsubscribe()
    this.#live = null
  }
}

const isAtOrAfter = (position: number | null, from: number | null): boolean => (position ?? -1) >= (from ?? -1)

const takeFrom = (live: Live, position: number | null): SourcePage => {
  const isFresh = (item: LogItem): boolean => !isAtOrAfter(position, lastPositionOf(item))
  const begin = live.waiting.findIndex(isFresh)
  const items = begin < 0 ? [] : live.waiting.slice(begin, begin + readPageEventsMax)
  const last = items.at(-1)
  live.waiting = begin < 0 ? [] : live.waiting.slice(begin + items.length)
  live.waitingEvents = live.waiting.length
  live.from = last === undefined ? position : lastPositionOf(last)
  return { items, scannedTo: live.from, atEnd: live.waiting.length === 0 }
}

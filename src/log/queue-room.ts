import type { NewEvent } from '../domain/events.ts'
import { logQueueBytesMax, logQueueChangesBytesMax, logQueueChangesMax, logQueueReadingsMax } from '../limits.ts'
import { Outage } from './event-log.ts'

export type Share = {
  readonly events: number
  readonly bytes: number
  /** As `areReadings` says. */
  readonly isReadings: boolean
}

/** Nothing but accepted readings. */
export const areReadings = (events: readonly NewEvent[]): boolean =>
  events.every(({ type }) => type === 'ReadingAccepted')

/**
 * What waits in front of a log, bounded in events and bytes over all streams. What is more than readings has room of its own
 * behind theirs: a revocation is never refused because readings wait (docs/protocol.md, "Taking a right away").
 */
export class QueueRoom {
  #events = 0
  #bytes = 0

  /** @throws Outage, `overloaded` and not written, if there is none. */
  take(stream: string, { events, bytes, isReadings }: Share): void {
    const eventsMax = logQueueReadingsMax + (isReadings ? 0 : logQueueChangesMax)
    const bytesMax = logQueueBytesMax + (isReadings ? 0 : logQueueChangesBytesMax)
    if (this.#events + events > eventsMax || this.#bytes + bytes > bytesMax) {
      const waiting = `${this.#events} events of ${this.#bytes} bytes wait already`
      throw new Outage(`Cannot append to "${stream}": ${waiting}`, 'not_written', 'overloaded')
    }
    this.#events += events
    this.#bytes += bytes
  }

  leave({ events, bytes }: Pick<Share, 'events' | 'bytes'>): void {
    this.#events -= events
    this.#bytes -= bytes
  }
}

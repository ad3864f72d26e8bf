import { ReadingRun } from '../domain/reading/recorded-run.ts'
import { Outage, type ToAppend } from './event-log.ts'

export const logQueueReadingsMax = 65_536
export const logQueueBytesMax = 16 * 1024 * 1024
/** Changes have room of their own, so that waiting readings never keep out a revocation. */
export const logQueueChangesMax = 4_096
export const logQueueChangesBytesMax = 4 * 1024 * 1024

export type Share = {
  readonly events: number
  readonly bytes: number
  readonly isTraffic: boolean
}

/** What devices cause: readings and summaries of refused ones. Everything else is a change. */
export const areTraffic = (events: ToAppend): boolean =>
  events instanceof ReadingRun || events.every(({ type }) => type === 'ReadingAccepted' || type === 'ReadingsRefused')

/** Bounds the events and bytes that wait to be written or sent (docs/protocol.md, "Taking a right away"). */
export class QueueRoom {
  #events = 0
  #bytes = 0

  get events(): number {
    return this.#events
  }

  get bytes(): number {
    return this.#bytes
  }

  /** @throws Outage (`overloaded`, `not_written`) if the append does not fit. */
  take(stream: string, { events, bytes, isTraffic }: Share): void {
    const eventsMax = logQueueReadingsMax + (isTraffic ? 0 : logQueueChangesMax)
    const bytesMax = logQueueBytesMax + (isTraffic ? 0 : logQueueChangesBytesMax)
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

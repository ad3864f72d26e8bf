import type { RecordedEvent } from '../../../src/domain/events.ts'
import { eventsOfItems } from '../../../src/domain/reading/recorded-run.ts'
import type { EventLog, SubscribeOptions, Subscription } from '../../../src/log/event-log.ts'

/** A call that the subscriber got from the log. `Collector.told` lists the calls in their order. */
export type Told = { readonly event: RecordedEvent } | 'caught_up' | { readonly dropped: unknown }

export type Collector = {
  readonly told: readonly Told[]
  readonly events: readonly RecordedEvent[]
  readonly subscription: Subscription
  until(condition: (collected: Collector) => boolean): Promise<void>
}

export const caughtUp = ({ told }: Collector): boolean => told.includes('caught_up')
export const hasEvents =
  (count: number) =>
  ({ events }: Collector): boolean =>
    events.length >= count
export const dropped = ({ told }: Collector): boolean =>
  told.some((what) => typeof what === 'object' && 'dropped' in what)

/**
 * Subscribes to the log and collects what it delivers. `onEvent` runs during a delivery. So a test can call the log, or
 * unsubscribe, in the middle of a delivery.
 */
export const collect = (
  log: EventLog,
  options: SubscribeOptions,
  onEvent: (event: RecordedEvent, collector: Collector) => void = () => {},
): Collector => {
  const told: Told[] = []
  const events: RecordedEvent[] = []
  const waiting = new Set<() => void>()
  const look = (): void => {
    for (const check of waiting) check()
  }
  const subscription = log.subscribe(options, {
    onEvents: (delivered) => {
      for (const event of eventsOfItems(delivered)) {
        told.push({ event })
        events.push(event)
        onEvent(event, collector)
      }
      look()
    },
    onCaughtUp: () => {
      told.push('caught_up')
      look()
    },
    onDropped: (cause) => {
      told.push({ dropped: cause })
      look()
    },
  })
  const collector: Collector = {
    told,
    events,
    subscription,
    until: (condition) =>
      new Promise((resolve) => {
        const check = (): void => {
          if (!condition(collector)) return
          waiting.delete(check)
          resolve()
        }
        waiting.add(check)
        check()
      }),
  }
  return collector
}

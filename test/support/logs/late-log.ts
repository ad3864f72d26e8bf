import type { RecordedEvent } from '../../../src/domain/events.ts'
import { eventsOfItems } from '../../../src/domain/reading/recorded-run.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import { passingLog } from './passing-log.ts'

/**
 * Imitates a node that hears late of other nodes. Once it has caught up, a subscription brings events only when the
 * test calls `deliver`.
 */
export type LateLog = EventLog & { deliver(): void }

export const lateLog = (inner: EventLog): LateLog => {
  const deliveries: (() => void)[] = []
  return {
    ...passingLog(inner),
    subscribe: (options, subscriber) => {
      let isCaughtUp = false
      let held: readonly RecordedEvent[] = []
      deliveries.push(() => {
        const events = held
        held = []
        if (events.length > 0) subscriber.onEvents(events)
      })
      return inner.subscribe(options, {
        onEvents: (items) => {
          if (isCaughtUp) held = [...held, ...eventsOfItems(items)]
          else subscriber.onEvents(items)
        },
        onCaughtUp: () => {
          isCaughtUp = true
          subscriber.onCaughtUp?.()
        },
        onDropped: (cause) => subscriber.onDropped?.(cause),
      })
    },
    deliver: () => {
      for (const deliver of deliveries) deliver()
    },
  }
}

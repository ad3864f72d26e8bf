import { eventsOfItems } from '../../../src/domain/reading/recorded-run.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import type { Schedule } from '../../../src/schedule.ts'
import { passingLog } from './passing-log.ts'

export type Distance = {
  readonly oneWayMs: number
  readonly commitMs: number
  /**
   * Returns a number from 0 to 1. With 0, a way to or from the store takes 60% of `oneWayMs`; with 1, it takes 140%.
   * Default: always one half, which is 100%.
   */
  readonly chance?: () => number
}

/** Delays each call and answer, as if the node reached the store over a slow network. */
export const distantLog = (
  inner: EventLog,
  schedule: Schedule,
  { oneWayMs, commitMs, chance = () => 0.5 }: Distance,
): EventLog => {
  const pause = (ms: number): Promise<void> => new Promise((resolve) => schedule.after(ms, resolve))
  const way = (): Promise<void> => pause(oneWayMs * (0.6 + 0.8 * chance()))
  return {
    ...passingLog(inner),
    lags: true,
    append: async (...args) => {
      await way()
      const result = await inner.append(...args)
      if (result.outcome !== 'conflict') await pause(commitMs)
      await way()
      return result
    },
    read: async (...args) => {
      await way()
      const events = await inner.read(...args)
      await way()
      return events
    },
    subscribe: (options, subscriber) =>
      inner.subscribe(options, {
        ...subscriber,
        // All deliveries have the same delay, so they keep their order, as over one connection.
        onEvents: (items) => {
          // Made now, because a later batch can use the columns of a run when this call has returned.
          const events = eventsOfItems(items)
          schedule.after(oneWayMs, () => subscriber.onEvents(events))
        },
        onCaughtUp: () => schedule.after(oneWayMs, () => subscriber.onCaughtUp?.()),
      }),
  }
}

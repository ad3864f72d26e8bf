import type { Schedule } from '../../../src/actors/schedule.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import { passingLog } from './passing-log.ts'

export type Distance = {
  readonly oneWayMs: number
  readonly commitMs: number
  /** 0 to 1, moves `oneWayMs` up or down. Default: one half, which moves nothing. */
  readonly chance?: () => number
}

/** A store that nodes reach over a slow network. */
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
        // In order, as over one connection.
        onEvents: (events) => schedule.after(oneWayMs, () => subscriber.onEvents(events)),
        onCaughtUp: () => schedule.after(oneWayMs, () => subscriber.onCaughtUp?.()),
      }),
  }
}

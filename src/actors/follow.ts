import type { RecordedEvent } from '../domain/events.ts'
import { storeRetryPauseMsMax } from '../limits.ts'
import type { Subscription } from '../log/event-log.ts'
import type { Host } from './host.ts'

/**
 * Follows the whole log from its beginning, and resolves once everything that lay in it has been folded. A subscription
 * that ends later is taken up again where it ended. `onEvents` may throw, which is a bug: what is folded can't be trusted
 * from then on, so `onBroken` is told and nothing more is delivered.
 */
export const follow = (
  host: Host,
  onEvents: (events: readonly RecordedEvent[]) => void,
  onBroken: (bug: unknown) => void,
): Promise<Subscription> => {
  const { promise, resolve, reject } = Promise.withResolvers<Subscription>()
  let after: number | null = null
  let isCaughtUp = false
  let isEnded = false
  let subscription: Subscription | null = null

  const end = (): void => {
    isEnded = true
    subscription?.unsubscribe()
  }
  const takeUpAgain = (cause: unknown): void => {
    if (isEnded) return
    if (!isCaughtUp) reject(cause)
    else host.schedule.after(storeRetryPauseMsMax, begin)
  }
  const begin = (): void => {
    if (isEnded) return
    try {
      subscription = host.log.subscribe(
        { after },
        {
          onEvents: (events) => {
            if (isEnded) return
            try {
              onEvents(events)
              after = events.at(-1)?.position ?? after
            } catch (bug) {
              end()
              if (isCaughtUp) onBroken(bug)
              else reject(bug)
            }
          },
          onCaughtUp: () => {
            isCaughtUp = true
            resolve({ unsubscribe: end })
          },
          onDropped: takeUpAgain,
        },
      )
    } catch (cause) {
      takeUpAgain(cause)
    }
  }
  begin()
  return promise
}

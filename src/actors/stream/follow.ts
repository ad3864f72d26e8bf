import type { RecordedEvent } from '../../domain/events.ts'
import { storeRetryPauseMsMax } from '../../limits.ts'
import type { Subscription } from '../../log/event-log.ts'
import type { Host } from '../host.ts'

export type Following = {
  /** The last position that is not to be delivered; `null`: from the beginning. */
  readonly after: number | null
  /** Default: all streams. */
  readonly categories?: readonly string[]
  readonly onEvents: (events: readonly RecordedEvent[]) => void
  readonly onBroken: (bug: unknown) => void
}

/**
 * Follows the log from a position on, and resolves once everything that lay in it has been folded. A subscription
 * that ends later is taken up again where it ended. `onEvents` may throw, which is a bug: what is folded can't be trusted
 * from then on, so `onBroken` is told and nothing more is delivered.
 */
export const follow = (host: Host, { onEvents, onBroken, ...from }: Following): Promise<Subscription> => {
  const { promise, resolve, reject } = Promise.withResolvers<Subscription>()
  const categories = from.categories === undefined ? {} : { categories: from.categories }
  let { after } = from
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
        { after, ...categories },
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

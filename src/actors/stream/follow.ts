import { type LogItem, lastPositionOf } from '../../domain/reading/recorded-run.ts'
import { storeRetryPauseMsMax } from '../../limits.ts'
import type { Subscription } from '../../log/event-log.ts'
import type { ActorContext } from '../actor-context.ts'

type Following = {
  /** `null` delivers the whole log. */
  readonly after: number | null
  readonly categories: readonly string[]
  /** If it throws, no more events are delivered, because the folded state can be wrong. */
  readonly onEvents: (items: readonly LogItem[]) => void
  readonly onBroken: (bug: unknown) => void
}

/**
 * Resolves when all events that are already in the log are delivered. Until then, a dropped subscription or a bug rejects
 * the promise. Later, a dropped subscription begins again where it ended, and a bug goes to `onBroken`.
 */
export const follow = (
  context: ActorContext,
  { categories, onEvents, onBroken, ...from }: Following,
): Promise<Subscription> => {
  const { promise, resolve, reject } = Promise.withResolvers<Subscription>()
  let { after } = from
  let isCaughtUp = false
  let isEnded = false
  let subscription: Subscription | null = null

  const end = (): void => {
    isEnded = true
    subscription?.unsubscribe()
  }
  const beginAgain = (cause: unknown): void => {
    if (isEnded) return
    if (!isCaughtUp) reject(cause)
    else context.schedule.after(storeRetryPauseMsMax, begin)
  }
  const begin = (): void => {
    if (isEnded) return
    try {
      subscription = context.log.subscribe(
        { after, categories },
        {
          onEvents: (items) => {
            if (isEnded) return
            try {
              onEvents(items)
              const last = items.at(-1)
              if (last !== undefined) after = lastPositionOf(last)
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
          onDropped: beginAgain,
        },
      )
    } catch (cause) {
      beginAgain(cause)
    }
  }
  begin()
  return promise
}

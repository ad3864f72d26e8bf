import type { NewEvent } from '../../domain/events.ts'
import { storeRetryPauseMsMax } from '../../limits.ts'
import { type AppendResult, type ExpectedRevision, Outage } from '../../log/event-log.ts'
import type { ActorContext } from '../actor-context.ts'

const storeRetryPauseMsMin = 10
/** About an hour of retries. Then the actor reads the log again to learn the outcome. */
export const storeRetriesMax = 3_600

export type Append = {
  readonly stream: string
  readonly expected: ExpectedRevision
  readonly events: readonly NewEvent[]
}

export type AppendOptions = {
  /** Retries even if nothing was written: after an earlier event is stored, no change may stay half done. */
  readonly mustFinish: boolean
  /** Called at most once, before the second try. The caller can then refuse new requests, which would only wait. */
  readonly onDoubt?: () => void
}

/** The pause is random, so that several nodes do not retry together. */
export const retryPauseMs = (tries: number, context: ActorContext): number => {
  const fullMs = Math.min(storeRetryPauseMsMax, storeRetryPauseMsMin * 2 ** Math.min(tries, 16))
  return Math.ceil(fullMs * (0.5 + context.chance() / 2))
}

/**
 * Repeats the identical append until it is known whether its events are stored (docs/protocol.md, "Appending a reading").
 * After an unknown outcome, "not written" also leads to a retry, because an earlier try can be stored. @throws Outage
 * `not_written` if no try wrote anything, `unknown` if the node gave up.
 */
export const appendUntilKnown = async (
  context: ActorContext,
  append: Append,
  options: AppendOptions,
): Promise<AppendResult> => {
  let mustRetry = options.mustFinish
  for (let tries = 0; ; tries += 1) {
    try {
      return await context.log.append(append.stream, append.expected, append.events)
    } catch (error) {
      if (!(error instanceof Outage)) throw error
      mustRetry ||= error.outcome === 'unknown'
      if (!mustRetry) throw error
      if (context.gaveUp || tries >= storeRetriesMax) {
        const message = `Cannot append to "${append.stream}": the outcome of ${tries + 1} tries is unknown`
        throw new Outage(message, 'unknown', error.reason, { cause: error })
      }
      if (tries === 0) options.onDoubt?.()
      await context.pause(retryPauseMs(tries, context))
    }
  }
}

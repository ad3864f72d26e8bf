import type { NewEvent } from '../../domain/events.ts'
import { storeRetriesMax, storeRetryPauseMsMax, storeRetryPauseMsMin } from '../../limits.ts'
import { type AppendResult, type ExpectedRevision, Outage } from '../../log/event-log.ts'
import type { Host } from '../host.ts'

export type Append = {
  readonly stream: string
  readonly expected: ExpectedRevision
  readonly events: readonly NewEvent[]
}

export type AppendOptions = {
  /** It finishes something begun: a try that surely wrote nothing is made again too, instead of being thrown. */
  readonly mustFinish: boolean
  /** Told once, when the first try has failed and the append is tried again. */
  readonly onDoubt?: () => void
}

/** Longer with each try, and spread by chance so that several nodes do not knock together. */
export const retryPauseMs = (tries: number, host: Host): number => {
  const fullMs = Math.min(storeRetryPauseMsMax, storeRetryPauseMsMin * 2 ** Math.min(tries, 16))
  return Math.ceil(fullMs * (0.5 + host.chance() / 2))
}

/**
 * Appends; when the outcome is unknown, makes the identical append (same ids, same revision) again until the store says.
 * Once one try may have been written, a later "not written" speaks of its own try only, and settles nothing.
 * @throws Outage `not_written` if surely nothing was, `unknown` when the node gave up.
 */
export const appendUntilKnown = async (host: Host, append: Append, options: AppendOptions): Promise<AppendResult> => {
  let goesOn = options.mustFinish
  for (let tries = 0; ; tries += 1) {
    try {
      return await host.log.append(append.stream, append.expected, append.events)
    } catch (error) {
      if (!(error instanceof Outage)) throw error
      goesOn ||= error.outcome === 'unknown'
      if (!goesOn) throw error
      if (host.gaveUp || tries >= storeRetriesMax) {
        const message = `Cannot append to "${append.stream}": the outcome of ${tries + 1} tries is unknown`
        throw new Outage(message, 'unknown', error.reason, { cause: error })
      }
      if (tries === 0) options.onDoubt?.()
      await host.pause(retryPauseMs(tries, host))
    }
  }
}

import { exportRetryPauseMs } from '../../limits.ts'
import { DamagedLog, type EventLog, Outage, StillSearching } from '../../log/event-log.ts'

/** Longer than an election of EventStoreDB takes, or one late answer to a ping. */
export const exportOutageMsMax = 30_000

export type LogReads = Pick<EventLog, 'read' | 'readAll' | 'lags'>

export const unlessSearching = async <T>(read: Promise<T>, otherwise: T): Promise<T> => {
  try {
    return await read
  } catch (error) {
    if (error instanceof StillSearching) return otherwise
    throw error
  }
}

export type Patience = {
  readonly pause: (ms: number) => Promise<void>
  /** On a clock that is never set back. */
  readonly passedMs: () => number
  readonly isWanted: () => boolean
}

/**
 * Repeats the same read while the store is unavailable, for at most `exportOutageMsMax`. So a search that is made of such
 * reads misses no event and returns none twice. Throws the last error.
 */
export const patiently =
  ({ pause, passedMs, isWanted }: Patience) =>
  async <T>(read: () => Promise<T>): Promise<T> => {
    let awaySinceMs: number | null = null
    while (true) {
      try {
        return await read()
      } catch (error) {
        awaySinceMs ??= passedMs()
        const isOver = passedMs() - awaySinceMs >= exportOutageMsMax
        if (!canPass(error) || isOver || !isWanted()) throw error
      }
      await pause(exportRetryPauseMs)
    }
  }

/** Damage stays until somebody restores a backup. */
const canPass = (error: unknown): boolean =>
  error instanceof Outage && error.reason === 'unavailable' && !(error instanceof DamagedLog)

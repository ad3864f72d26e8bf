import type { CommandRefusal, ReadingRefusal } from '../domain/refusal.ts'
import { assertNever } from '../domain/refusal.ts'
import { type EventLog, Outage } from '../log/event-log.ts'

/** What a device is told: nothing was acknowledged, and it may come again. */
export const readingRefusalOf = (outage: Outage): ReadingRefusal => {
  switch (outage.reason) {
    case 'full':
      return { kind: 'storage_full' }
    case 'overloaded':
      return { kind: 'overloaded' }
    case 'unavailable':
    case 'closed':
      return { kind: 'store_unavailable' }
    default:
      return assertNever(outage.reason)
  }
}

const storageFull: ReadingRefusal = { kind: 'storage_full' }

/** What the log would refuse a reading for now; `null`: nothing. Asked first, so that no work is done in vain. */
export const storageRefusal = (log: Pick<EventLog, 'refusesReadings'>): ReadingRefusal | null =>
  log.refusesReadings === true ? storageFull : null

/** The command has written already: should the store be away from now on, "nothing was changed" would be a lie. */
export const havingWritten = async <T>(finish: () => Promise<T>): Promise<T> => {
  try {
    return await finish()
  } catch (error) {
    if (!(error instanceof Outage)) throw error
    throw new Outage(error.message, 'unknown', error.reason, { cause: error })
  }
}

/** What an admin is told; where the outcome is unknown, that it is. */
export const commandRefusalOf = (outage: Outage): CommandRefusal => {
  if (outage.outcome === 'unknown') return { kind: 'not_confirmed' }
  switch (outage.reason) {
    case 'full':
      return { kind: 'storage_full' }
    case 'overloaded':
      return { kind: 'busy' }
    case 'unavailable':
    case 'closed':
      return { kind: 'store_unavailable' }
    default:
      return assertNever(outage.reason)
  }
}

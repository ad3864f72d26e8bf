import type { CommandRefusal, ReadingRefusal } from '../domain/refusal.ts'
import { assertNever } from '../domain/refusal.ts'
import { type EventLog, Outage } from '../log/event-log.ts'

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

/** If the disk is full. Asked first, so that a refusal costs no work. */
export const storageRefusal = (log: Pick<EventLog, 'refusesReadings'>): ReadingRefusal | null =>
  log.refusesReadings === true ? storageFull : null

/** The rest of a command whose first event is stored. An outage is then `unknown`: "nothing was changed" would be false. */
export const havingWritten = async <T>(finish: () => Promise<T>): Promise<T> => {
  try {
    return await finish()
  } catch (error) {
    if (!(error instanceof Outage)) throw error
    throw new Outage(error.message, 'unknown', error.reason, { cause: error })
  }
}

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

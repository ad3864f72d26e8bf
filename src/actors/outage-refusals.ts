import type { CommandRefusal, ReadingRefusal } from '../domain/refusal.ts'
import { type EventLog, Outage } from '../log/event-log.ts'

const readingRefusals: Readonly<Record<Outage['reason'], ReadingRefusal>> = {
  full: { kind: 'storage_full' },
  overloaded: { kind: 'overloaded' },
  unavailable: { kind: 'store_unavailable' },
  closed: { kind: 'store_unavailable' },
}

const commandRefusals: Readonly<Record<Outage['reason'], CommandRefusal>> = {
  full: { kind: 'storage_full' },
  overloaded: { kind: 'busy' },
  unavailable: { kind: 'store_unavailable' },
  closed: { kind: 'store_unavailable' },
}

export const readingRefusalOf = ({ reason }: Outage): ReadingRefusal => readingRefusals[reason]

export const commandRefusalOf = ({ outcome, reason }: Outage): CommandRefusal =>
  outcome === 'unknown' ? { kind: 'not_confirmed' } : commandRefusals[reason]

/** The refusal while the disk is full. Asked first, so that a refusal costs no work. */
export const storageRefusal = (log: Pick<EventLog, 'refusesReadings'>): ReadingRefusal | null =>
  log.refusesReadings === true ? readingRefusals.full : null

/** The rest of a command whose first event is stored. After an outage, "nothing was changed" would be false. */
export const havingWritten = async <T>(finish: () => Promise<T>): Promise<T> => {
  try {
    return await finish()
  } catch (error) {
    if (!(error instanceof Outage)) throw error
    throw new Outage(error.message, 'unknown', error.reason, { cause: error })
  }
}

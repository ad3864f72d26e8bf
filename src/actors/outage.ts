import type { CommandRefusal, ReadingRefusal } from '../domain/refusal.ts'
import { assertNever } from '../domain/refusal.ts'
import type { Outage } from '../log/event-log.ts'

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

import { type CellarState, evolveCellar } from '../cellar.ts'
import type { RecordedEvent } from '../events.ts'
import { evolveKey, type KeyState } from '../key.ts'
import { evolveOperator, type OperatorState } from '../operator.ts'
import { setupStream } from '../stream-names.ts'

/**
 * The states before an event of what the event is about. A reading, a fence or a purge is about its key. `null`: it was not yet
 * created, the event is about something else, or the state is not known.
 */
export type StateBefore = {
  readonly key: KeyState | null
  readonly cellar: CellarState | null
  readonly operator: OperatorState | null
  /** False if too many events lie before the event to read them all (`stateBeforeEventsMax`). All states are `null` then. */
  readonly isKnown: boolean
}

export const nothingBefore: StateBefore = { key: null, cellar: null, operator: null, isKnown: true }
export const unknownBefore: StateBefore = { ...nothingBefore, isKnown: false }

/** Returns the states after the event. An event that changes no state returns the same states. */
export const stateAfter = (before: StateBefore, event: RecordedEvent): StateBefore => {
  if (!before.isKnown) return before
  switch (event.type) {
    case 'CellarCreated':
    case 'CellarRenamed':
    case 'CellarPolicyChanged':
      return { ...before, cellar: evolveCellar(before.cellar, event) }
    case 'KeyCreated':
    case 'KeyRelabelled':
    case 'KeyLimitChanged':
    case 'KeyExpirySet':
    case 'KeyRotated':
    case 'KeySuperseded':
    case 'KeySuspended':
    case 'KeyResumed':
    case 'KeyExpired':
    case 'KeyRevoked':
      return { ...before, key: evolveKey(before.key, event) }
    case 'OperatorLinkIssued':
      return event.stream === setupStream ? before : { ...before, operator: evolveOperator(before.operator, event) }
    case 'OperatorAdded':
    case 'OperatorPasswordSet':
    case 'OperatorRoleChanged':
    case 'OperatorRemoved':
    case 'OperatorSignedIn':
    case 'OperatorSessionRenewed':
    case 'OperatorSignedOut':
      return { ...before, operator: evolveOperator(before.operator, event) }
    default:
      return before
  }
}

import { type CellarState, evolveCellar } from '../cellar.ts'
import { isIn, type RecordedEvent } from '../events.ts'
import { evolveKey, type KeyState } from '../key.ts'
import { evolveOperator, type OperatorState } from '../operator.ts'
import { setupStream } from '../stream-names.ts'

/**
 * What an event changes, before the event. A reading, a fence or a purge is about its key. `null`: not created yet, not
 * what the event is about, or not known.
 */
export type StateBefore = {
  readonly key: KeyState | null
  readonly cellar: CellarState | null
  readonly operator: OperatorState | null
  /** False if more than `stateBeforeEventsMax` events lie before. All states are `null` then. */
  readonly isKnown: boolean
}

export const nothingBefore: StateBefore = { key: null, cellar: null, operator: null, isKnown: true }
export const unknownBefore: StateBefore = { ...nothingBefore, isKnown: false }

export const stateAfter = (before: StateBefore, event: RecordedEvent): StateBefore => {
  if (!before.isKnown) return before
  if (isIn('key', event)) return { ...before, key: evolveKey(before.key, event) }
  if (isIn('cellar', event)) {
    const isAboutKey = before.cellar === null && event.type !== 'CellarCreated'
    return isAboutKey ? before : { ...before, cellar: evolveCellar(before.cellar, event) }
  }
  if (event.stream === setupStream || !isIn('operator', event)) return before
  return { ...before, operator: evolveOperator(before.operator, event) }
}

import { anyEvent } from '../../domain/search/event-filter.ts'
import { AskBusy, type AskIndex, AskUnusable } from '../../log/ask-index.ts'
import { type EventLog, Outage, UndecodableEvent } from '../../log/event-log.ts'
import type { KnownRevision } from '../saved-state/lost-changes.ts'
import { foldedEvent } from '../stream/folded-event.ts'

/**
 * Returns what the index knows of each stream if the log does not have the index's last event, or `null`. The follower
 * empties such an index, so call this before it starts.
 */
export const knownBeyondLog = async (log: EventLog, index: AskIndex): Promise<KnownRevision | null> => {
  const { foldedTo } = index
  if (foldedTo === null) return null
  const last = await foldedEvent(log, foldedTo).catch(unlessUsual)
  return last === null ? (stream) => lastRevision(index, stream) : null
}

const lastRevision = (index: AskIndex, stream: string): number | null => {
  try {
    const steps = index.find({ ...anyEvent, stream }, { direction: 'backwards', from: null, limit: 1 })
    for (;;) {
      const step = steps.next()
      if (step.done === true) return step.value.places[0]?.revision ?? null
    }
  } catch (fault) {
    unlessUsual(fault)
    return null
  }
}

/** The follower meets the same fault, and reports it. */
const unlessUsual = (fault: unknown): undefined => {
  if (![Outage, UndecodableEvent, AskBusy, AskUnusable].some((usual) => fault instanceof usual)) throw fault
}

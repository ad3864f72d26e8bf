import type { KnownRevisions } from '../../derived/ask/known-revisions.ts'
import { type EventLog, Outage, UndecodableEvent } from '../../log/event-log.ts'
import type { KnownRevision } from '../start/lost-changes.ts'
import { foldedEvent } from '../stream/folded-event.ts'

/**
 * What `ask.db` knows of each stream, if the log does not have its last event. The follower deletes such a file, so call
 * this before it starts.
 */
export const knownBeyondLog = async (log: EventLog, known: KnownRevisions): Promise<KnownRevision | null> => {
  const last = await foldedEvent(log, known.head).catch(unlessUsual)
  return last === null ? (stream) => known.lastRevision(stream) : null
}

/** The follower meets the same fault, and reports it. */
const unlessUsual = (fault: unknown): undefined => {
  if (!(fault instanceof Outage || fault instanceof UndecodableEvent)) throw fault
}

import type { RecordedEvent } from '../../domain/events.ts'
import type { FoldedTo } from '../../domain/folded-to.ts'
import type { EventLog } from '../../log/event-log.ts'

/**
 * The last event that was folded, if the log has that very one: one that has not (`null`) is another, or was put back from a
 * copy made earlier, however far it has grown since. `purged`: its stream begins behind that place now, and nobody can say.
 * @throws what the log throws if it can't be read.
 */
export const foldedEvent = async (
  log: EventLog,
  { position, stream, revision, id }: FoldedTo,
): Promise<RecordedEvent | 'purged' | null> => {
  const [event] = await log.read(stream, { from: revision, limit: 1 })
  if (event !== undefined && event.revision > revision) return 'purged'
  return event?.id === id && event.position === position ? event : null
}

import type { RecordedEvent } from '../../domain/events.ts'
import type { FoldedTo } from '../../domain/log-reference.ts'
import type { EventLog } from '../../log/event-log.ts'

/**
 * Finds the last folded event. `null` if it is not in the log: another log, or an older copy. `purged` if it was purged, so
 * nobody can tell.
 * @throws what the log throws if it cannot be read.
 */
export const foldedEvent = async (
  log: EventLog,
  { position, stream, revision, id }: FoldedTo,
): Promise<RecordedEvent | 'purged' | null> => {
  const [event] = await log.read(stream, { from: revision, limit: 1 })
  if (event !== undefined && event.revision > revision) return 'purged'
  return event?.id === id && event.position === position ? event : null
}

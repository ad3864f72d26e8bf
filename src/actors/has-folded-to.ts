import type { FoldedTo } from '../domain/folded-to.ts'
import type { EventLog } from '../log/event-log.ts'

/**
 * Whether the log has that very event: one that has not is another, or was put back from a copy made earlier, however far it
 * has grown since. @throws what the log throws if it can't be read.
 */
export const hasFoldedTo = async (log: EventLog, { position, stream, revision, id }: FoldedTo): Promise<boolean> => {
  const [event] = await log.read(stream, { from: revision, limit: 1 })
  return event?.id === id && event.position === position
}

import type { RecordedEvent } from '../../domain/events.ts'
import type { FoldedTo } from '../../domain/log-reference.ts'
import { type EventLog, Outage, UndecodableEvent } from '../../log/event-log.ts'

/**
 * `null`: this is another log, or an older copy. `purged`: it stays unknown whether this is the same log. In both cases the
 * caller must discard its model. @throws the error of the log if it cannot be read.
 */
export const foldedEvent = async (
  log: EventLog,
  { position, stream, revision, id }: FoldedTo,
): Promise<RecordedEvent | 'purged' | null> => {
  const [event] = await log.read(stream, { from: revision, limit: 1 })
  if (event !== undefined && event.revision > revision) return 'purged'
  return event?.id === id && event.position === position ? event : null
}

/** `null`: the log cannot answer now. */
export const inLog =
  (log: EventLog) =>
  async (event: FoldedTo): Promise<boolean | 'purged' | null> => {
    try {
      const found = await foldedEvent(log, event)
      return found === 'purged' ? found : found !== null
    } catch (fault) {
      if (fault instanceof Outage || fault instanceof UndecodableEvent) return null
      throw fault
    }
  }

import type { RecordedEvent } from '../src/domain/events.ts'

/**
 * Returns false if the event was folded before. `lastRevision` is -1 before the first event of the stream.
 * @throws Error if an event between `lastRevision` and this event is missing, because the projection would stay wrong
 */
export const isNext = (lastRevision: number, event: RecordedEvent): boolean => {
  if (event.revision === lastRevision + 1) return true
  if (event.revision <= lastRevision) return false
  throw new Error(
    `Cannot fold revision ${event.revision} of "${event.stream}": the last one folded is ${lastRevision < 0 ? 'none' : lastRevision}`,
  )
}

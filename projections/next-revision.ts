import type { RecordedEvent } from '../src/domain/events.ts'

/**
 * False: the event was folded before. `lastRevision` is -1 before the first event. @throws Error if an event between the
 * two is missing, because the projection would stay wrong
 */
export const isNext = (lastRevision: number, event: RecordedEvent): boolean => {
  if (event.revision === lastRevision + 1) return true
  if (event.revision <= lastRevision) return false
  throw new Error(
    `Cannot fold revision ${event.revision} of "${event.stream}": the last one folded is ${lastRevision < 0 ? 'none' : lastRevision}`,
  )
}

import type { RecordedEvent } from '../src/domain/events.ts'

/**
 * Whether the event comes next in its stream, whose last folded revision is given (-1 before the first); `false` if it was
 * folded before.
 * @throws Error if events between the two are missing: a projection with a hole in it would be wrong for ever.
 */
export const isNext = (lastRevision: number, event: RecordedEvent): boolean => {
  if (event.revision === lastRevision + 1) return true
  if (event.revision <= lastRevision) return false
  throw new Error(
    `Cannot fold revision ${event.revision} of "${event.stream}": the last one folded is ${lastRevision < 0 ? 'none' : lastRevision}`,
  )
}

/** How saved state refers to a log. */
import type { RecordedEvent } from './events.ts'

/** `events`: all of the log's own stream. A copy has another id, because its positions differ. */
export const logIdOf = (events: readonly RecordedEvent[]): string | null => {
  let id: string | null = null
  for (const event of events) {
    if (event.type === 'LogCreated') id = event.data.logId
    if (event.type === 'LogCopyBegun') id = event.data.copyId
  }
  return id
}

/** The last event that was folded. */
export type FoldedTo = Pick<RecordedEvent, 'position' | 'stream' | 'revision' | 'id'>

/** A copy, so that the event itself is not kept in memory. */
export const foldedToOf = ({ position, stream, revision, id }: RecordedEvent): FoldedTo => ({
  position,
  stream,
  revision,
  id,
})

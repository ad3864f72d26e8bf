/** How saved state, such as a checkpoint, refers to its log. */
import type { RecordedEvent } from './events.ts'

/** `events` are all events of the stream `cellarbook-log`. A copy has its own id, because its positions differ. */
export const logIdOf = (events: readonly RecordedEvent[]): string | null => {
  let id: string | null = null
  for (const event of events) {
    if (event.type === 'LogCreated') id = event.data.logId
    if (event.type === 'LogCopyBegun') id = event.data.copyId
  }
  return id
}

/** The last event that was folded into the saved state. */
export type FoldedTo = Pick<RecordedEvent, 'position' | 'stream' | 'revision' | 'id'>

/** Copies the fields, so that the event itself does not stay in memory. */
export const foldedToOf = ({ position, stream, revision, id }: RecordedEvent): FoldedTo => ({
  position,
  stream,
  revision,
  id,
})

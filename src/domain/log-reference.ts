/** How saved state, such as a checkpoint, names the log from which it was computed. State from another log would be wrong. */
import type { RecordedEvent } from './events.ts'

/**
 * `events` are all events of the stream `cellarbook-log`. Returns `null` if none of them gives an id. A copied log has an id of
 * its own, because events have other positions in the copy.
 */
export const logIdOf = (events: readonly RecordedEvent[]): string | null => {
  let id: string | null = null
  for (const event of events) {
    if (event.type === 'LogCreated') id = event.data.logId
    if (event.type === 'LogCopyBegun') id = event.data.copyId
  }
  return id
}

/** Names the last event that the saved state includes. A start reads the log from there on. */
export type FoldedTo = Pick<RecordedEvent, 'position' | 'stream' | 'revision' | 'id'>

/** Copies four fields, because a reference to the event would keep all of the event in memory. */
export const foldedToOf = ({ position, stream, revision, id }: RecordedEvent): FoldedTo => ({
  position,
  stream,
  revision,
  id,
})

/**
 * Saved state, such as a checkpoint, names the log that it was computed from. The state of another log would show other keys
 * and readings, so a node must not use it.
 */
import type { RecordedEvent } from './events.ts'

/**
 * `events` are all events of the stream `cellarbook-log`. A copied log has an id of its own, because its events have other
 * positions than the source.
 */
export const logIdOf = (events: readonly RecordedEvent[]): string | null => {
  let id: string | null = null
  for (const event of events) {
    if (event.type === 'LogCreated') id = event.data.logId
    if (event.type === 'LogCopyBegun') id = event.data.copyId
  }
  return id
}

/** The last event that the saved state includes. A node that starts with this state reads the log after this event. */
export type FoldedTo = Pick<RecordedEvent, 'position' | 'stream' | 'revision' | 'id'>

/** Copies four fields, because a reference to the event would keep the whole event in memory. */
export const foldedToOf = ({ position, stream, revision, id }: RecordedEvent): FoldedTo => ({
  position,
  stream,
  revision,
  id,
})

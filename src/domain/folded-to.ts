import type { RecordedEvent } from './events.ts'

/** The last event of a log that was folded into something that is kept beside it. */
export type FoldedTo = Pick<RecordedEvent, 'position' | 'stream' | 'revision' | 'id'>

/** The place alone, which may be kept for as long as one likes. */
export const foldedToOf = ({ position, stream, revision, id }: RecordedEvent): FoldedTo => ({
  position,
  stream,
  revision,
  id,
})

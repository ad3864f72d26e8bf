import type { RecordedEvent } from '../events.ts'

/** How far a stream of readings goes. */
export type ReadingsEnd = {
  readonly stream: string
  /** The last event can be a seal or a fence. */
  readonly revision: number
  /** Events before this revision are truncated. */
  readonly keptFrom: number
  /** The last reading. `null`: the stream has none. */
  readonly last: Pick<RecordedEvent, 'revision' | 'position' | 'recordedAt'> | null
}

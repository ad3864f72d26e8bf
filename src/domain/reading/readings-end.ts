import type { RecordedEvent } from '../events.ts'

export type ReadingsEnd = {
  readonly stream: string
  /** The last event can be a seal or a fence. */
  readonly revision: number
  /** Events before it are truncated. */
  readonly keptFrom: number
  /** `null`: the stream has no reading. */
  readonly last: Pick<RecordedEvent, 'revision' | 'position' | 'recordedAt'> | null
}

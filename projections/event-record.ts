import type { RecordedEvent } from '../src/domain/events.ts'
import type { RecordReader, RecordWriter } from './records.ts'
import { readBy, writeBy } from './saved-fields.ts'

/** What every saved event has beside its stream, type and data. */
export type EventHead = Pick<RecordedEvent, 'revision' | 'position' | 'recordedAt' | 'id' | 'metadata'>

export const writeEventHead = (to: RecordWriter, { revision, position, recordedAt, id, metadata }: EventHead): void => {
  to.whole(revision)
  to.whole(position)
  to.whole(recordedAt)
  to.text(id)
  writeBy(to, metadata.by)
  to.text(metadata.requestId)
  to.text(metadata.correlationId)
  to.text(metadata.causationId)
}

export const readEventHead = (from: RecordReader) => ({
  revision: from.whole(),
  position: from.whole(),
  recordedAt: from.whole(),
  id: from.text(),
  metadata: {
    by: readBy(from),
    requestId: from.text(),
    correlationId: from.text(),
    causationId: from.text(),
  },
})

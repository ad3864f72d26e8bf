import { readBy, writeBy } from './fields.ts'
import type { Purged } from './queries.ts'
import type { RecordReader, RecordWriter } from './records.ts'

/** What was purged of a key's readings, with the last event that says so: the key's history shows it. */
export const writePurged = (to: RecordWriter, { keptFrom, readings, last }: Purged): void => {
  const { by, requestId, correlationId, causationId } = last.metadata
  const { cellar, keyId, firstRevision, lastRevision, acceptedBefore, lastAcceptedAt } = last.data
  to.whole(keptFrom)
  to.whole(readings)
  to.name(last.stream)
  to.whole(last.revision)
  to.whole(last.position)
  to.whole(last.recordedAt)
  to.text(last.id)
  writeBy(to, by)
  to.text(requestId)
  to.text(correlationId)
  to.text(causationId)
  to.name(cellar)
  to.text(keyId)
  to.whole(firstRevision)
  to.whole(lastRevision)
  to.whole(last.data.readings)
  to.whole(acceptedBefore)
  to.whole(lastAcceptedAt)
}

export const readPurged = (from: RecordReader): Purged => ({
  keptFrom: from.whole(),
  readings: from.whole(),
  last: {
    type: 'ReadingsPurged',
    stream: from.name(),
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
    data: {
      cellar: from.name(),
      keyId: from.text(),
      firstRevision: from.whole(),
      lastRevision: from.whole(),
      readings: from.whole(),
      acceptedBefore: from.whole(),
      lastAcceptedAt: from.whole(),
    },
  },
})

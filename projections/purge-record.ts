import { readEventHead, writeEventHead } from './event-record.ts'
import type { Purged } from './queries.ts'
import type { RecordReader, RecordWriter } from './records.ts'

/** What was purged of a key's readings, with the last event that says so: the key's history shows it. */
export const writePurged = (to: RecordWriter, { keptFrom, readings, last }: Purged): void => {
  const { cellar, keyId, firstRevision, lastRevision, acceptedBefore, lastAcceptedAt } = last.data
  to.whole(keptFrom)
  to.whole(readings)
  to.name(last.stream)
  writeEventHead(to, last)
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
    ...readEventHead(from),
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

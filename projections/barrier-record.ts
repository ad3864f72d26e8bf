import { readBy, writeBy } from './fields.ts'
import type { Barrier } from './queries.ts'
import type { RecordReader, RecordWriter } from './records.ts'

/** An event that ends or fences the readings of a key, whole: a key's history shows it. Its stream stands before it. */
export const writeBarrier = (to: RecordWriter, barrier: Barrier): void => {
  const { by, requestId, correlationId, causationId } = barrier.metadata
  to.whole(barrier.revision)
  to.whole(barrier.position)
  to.whole(barrier.recordedAt)
  to.text(barrier.id)
  writeBy(to, by)
  to.text(requestId)
  to.text(correlationId)
  to.text(causationId)
  to.flag(barrier.type === 'ReadingsSealed')
  if (barrier.type === 'ReadingsSealed') to.text(barrier.data.reason)
  else to.whole(barrier.data.keyRevision)
}

export const readBarrier = (from: RecordReader, stream: string): Barrier => {
  const common = {
    stream,
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
  }
  return from.flag()
    ? { ...common, type: 'ReadingsSealed', data: { reason: from.text() } }
    : { ...common, type: 'ReadingsFenced', data: { keyRevision: from.whole() } }
}

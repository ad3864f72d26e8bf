import { readEventHead, writeEventHead } from './event-record.ts'
import type { Barrier } from './queries.ts'
import type { RecordReader, RecordWriter } from './records.ts'

/** An event that ends or fences the readings of a key, whole: a key's history shows it. Its stream stands before it. */
export const writeBarrier = (to: RecordWriter, barrier: Barrier): void => {
  writeEventHead(to, barrier)
  to.flag(barrier.type === 'ReadingsSealed')
  if (barrier.type === 'ReadingsSealed') to.text(barrier.data.reason)
  else to.whole(barrier.data.keyRevision)
}

export const readBarrier = (from: RecordReader, stream: string): Barrier => {
  const common = { stream, ...readEventHead(from) }
  return from.flag()
    ? { ...common, type: 'ReadingsSealed', data: { reason: from.text() } }
    : { ...common, type: 'ReadingsFenced', data: { keyRevision: from.whole() } }
}

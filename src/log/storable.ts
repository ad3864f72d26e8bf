/**
 * Checks events before they are stored. Stored events are never rewritten, so an unreadable event would stop every
 * later start.
 */
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { type EventType, eventData, Metadata, type NewEvent, type RecordedEvent } from '../domain/events.ts'
import { categoryOf, purgeableCategories } from '../domain/stream-names.ts'
import { readPageEventsMax } from '../limits.ts'

const recordedAtMax = Date.UTC(9999, 11, 31, 23, 59, 59, 999)
const metadataCheck = TypeCompiler.Compile(Metadata)
const storedTypes = Object.entries(eventData).filter(([type]) => type !== 'RecordUnreadable')
const dataChecks = new Map(storedTypes.map(([type, schema]) => [type, TypeCompiler.Compile(schema)]))

/**
 * @throws Error if the stream's name has no category, there are no events, or an event does not match its schema. Each
 * of these is a bug of this program.
 */
export const assertStorable = (stream: string, events: readonly NewEvent[]): void => {
  if (stream.indexOf('-') < 1) throw new Error(`Cannot append to "${stream}": its name has no category before a "-"`)
  if (events.length === 0) throw new Error(`Cannot append to "${stream}": no events were given`)
  // All readings of a batch have the same metadata object, so it is checked only once.
  let checked: Metadata | null = null
  for (const event of events) {
    const fault = faultOf(event) ?? (event.metadata === checked ? null : metadataFault(event))
    checked = event.metadata
    if (fault !== null) throw new Error(`Cannot append ${event.type} to "${stream}": ${fault}`)
  }
}

const faultOf = (event: NewEvent): string | null => {
  if (event.id === '') return 'its id is empty'
  if (!Number.isSafeInteger(event.recordedAt) || event.recordedAt < 0 || event.recordedAt > recordedAtMax) {
    return 'recordedAt is not whole milliseconds from 1970 to 9999'
  }
  const data = dataChecks.get(event.type)
  if (data === undefined) return 'its type has no schema'
  if (!data.Check(event.data)) return `data ${data.Errors(event.data).First()?.message ?? 'does not match its schema'}`
  return null
}

const metadataFault = ({ metadata }: NewEvent): string | null =>
  metadataCheck.Check(metadata) ? null : 'metadata does not match its schema'

/**
 * Events of keys, cellars and operators are never deleted (docs/contract.md, "Retention and versioning").
 * @throws Error if the events before revision `before` must not be deleted.
 */
export const assertTruncatable = (stream: string, before: number, nextRevision: number): void => {
  const cannot = `Cannot truncate "${stream}" before revision ${before}`
  if (!purgeableCategories.includes(categoryOf(stream)))
    throw new Error(`${cannot}: only readings and records may be deleted`)
  if (!Number.isSafeInteger(before) || before < 0) throw new Error(`${cannot}: this is not a revision`)
  if (before >= nextRevision) throw new Error(`${cannot}: its last event stays, at revision ${nextRevision - 1}`)
}

export const recordRun = (
  stream: string,
  events: readonly NewEvent[],
  first: { readonly revision: number; readonly position: number },
): readonly RecordedEvent<EventType>[] =>
  events.map((event, index) => {
    const revision = first.revision + index
    const position = first.position + index
    if (event.type !== 'ReadingAccepted') return { ...event, stream, revision, position }
    // Each property is named, because copying a reading with `...` would take as long as checking it.
    const { id, type, recordedAt, data, metadata } = event
    return { id, type, recordedAt, data, metadata, stream, revision, position }
  })

export const assertPage = (limit: number): void => {
  if (Number.isInteger(limit) && limit >= 1 && limit <= readPageEventsMax) return
  throw new RangeError(`Cannot read ${limit} events at once: the limit is 1 to ${readPageEventsMax}`)
}

/** Stored events are never rewritten, so an unreadable one would stop every later start. */
import { TypeCompiler } from '@sinclair/typebox/compiler'
import {
  declarationOf,
  type EventType,
  eventTypes,
  Metadata,
  type NewEvent,
  type RecordedEvent,
} from '../domain/events.ts'
import { isBatch } from '../domain/reading/columns.ts'
import { type LogItem, ReadingRun, RecordedRun } from '../domain/reading/recorded-run.ts'
import { categoryOf, purgeableCategories, readingsStream } from '../domain/stream-names.ts'
import { readPageEventsMax } from '../limits.ts'
import type { ToAppend } from './event-log.ts'

/** `toISOString` throws for times that are much later. */
export const recordedAtMax = Date.UTC(9999, 11, 31, 23, 59, 59, 999)
const metadataCheck = TypeCompiler.Compile(Metadata)
const storedTypes = eventTypes.filter((type) => declarationOf(type).by.length > 0)
const dataChecks = new Map(storedTypes.map((type) => [type, TypeCompiler.Compile(declarationOf(type).data)]))

/**
 * @throws Error if the stream's name has no category, there are no events, or an event does not match its schema: bugs of
 * this program.
 */
export const assertStorable = (stream: string, events: ToAppend): void => {
  if (stream.indexOf('-') < 1) throw new Error(`Cannot append to "${stream}": its name has no category before a "-"`)
  if (countToAppend(events) === 0) throw new Error(`Cannot append to "${stream}": no events were given`)
  if (events instanceof ReadingRun) assertRun(stream, events)
  else for (const event of events) assertEvent(stream, event)
}

export const countToAppend = (events: ToAppend): number => (events instanceof ReadingRun ? events.count : events.length)

export const eventsToAppend = (events: ToAppend): readonly NewEvent[] =>
  events instanceof ReadingRun ? events.events() : events

const assertEvent = (stream: string, event: NewEvent): void => {
  const fault =
    idFault(event.id) ?? timeFault(event.recordedAt) ?? dataFault(event.type, event.data) ?? metadataFault(event)
  if (fault !== null) throw new Error(`Cannot append ${event.type} to "${stream}": ${fault}`)
}

/** Only the rules of readings (`domain/reading`) make columns, and a check would double their cost. */
const assertRun = (stream: string, { keyId, recordedAt, requests }: ReadingRun): void => {
  let fault = timeFault(recordedAt) ?? (stream === readingsStream(keyId) ? null : 'they belong to another key')
  for (const { requestId, readings } of requests) {
    fault ??= idFault(requestId) ?? (isBatch(readings) ? null : dataFault('ReadingAccepted', readings))
  }
  if (fault !== null) throw new Error(`Cannot append readings to "${stream}": ${fault}`)
}

const idFault = (id: string): string | null => (id === '' ? 'its id is empty' : null)

const timeFault = (recordedAt: number): string | null =>
  Number.isSafeInteger(recordedAt) && recordedAt >= 0 && recordedAt <= recordedAtMax
    ? null
    : 'recordedAt is not whole milliseconds from 1970 to 9999'

const dataFault = (type: EventType, data: unknown): string | null => {
  const check = dataChecks.get(type)
  if (check === undefined) return 'its type has no schema'
  if (check.Check(data)) return null
  return `data ${check.Errors(data).First()?.message ?? 'does not match its schema'}`
}

const metadataFault = ({ metadata }: NewEvent): string | null =>
  metadataCheck.Check(metadata) ? null : 'metadata does not match its schema'

/** Events of keys, cellars and operators are never deleted (docs/contract.md, "Retention and versioning"). @throws Error */
export const assertTruncatable = (stream: string, before: number, nextRevision: number): void => {
  const cannot = `Cannot truncate "${stream}" before revision ${before}`
  if (!purgeableCategories.includes(categoryOf(stream)))
    throw new Error(`${cannot}: only readings and records may be deleted`)
  if (!Number.isSafeInteger(before) || before < 0) throw new Error(`${cannot}: this is not a revision`)
  if (before >= nextRevision) throw new Error(`${cannot}: its last event stays, at revision ${nextRevision - 1}`)
}

/** As the log's subscribers get them. */
export const recordedAs = (
  stream: string,
  events: ToAppend,
  { revision, position }: { readonly revision: number; readonly position: number },
): readonly LogItem[] =>
  events instanceof ReadingRun
    ? [new RecordedRun(events, { stream, revision, position })]
    : recordedEvents(stream, events, { revision, position })

export const recordedEvents = (
  stream: string,
  events: readonly NewEvent[],
  { revision, position }: { readonly revision: number; readonly position: number },
): readonly RecordedEvent[] =>
  events.map((event, index) => ({ ...event, stream, revision: revision + index, position: position + index }))

export const assertPage = (limit: number): void => {
  if (Number.isInteger(limit) && limit >= 1 && limit <= readPageEventsMax) return
  throw new RangeError(`Cannot read ${limit} events at once: the limit is 1 to ${readPageEventsMax}`)
}

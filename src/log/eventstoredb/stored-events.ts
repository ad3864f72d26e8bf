/** EventStoreDB stores events as JSON, without metadata that follows from a reading's stream or id. */
import type { NewEvent, RecordedEvent } from '../../domain/events.ts'
import type { Reading } from '../../domain/reading/fields.ts'
import { readingsStream } from '../../domain/stream-names.ts'
import { isUuid, uuidOf } from '../../domain/uuid.ts'
import { type Codec, schemaVersion } from '../codec/codec.ts'
import { unreadableRecord } from '../codec/unreadable.ts'
import { UndecodableEvent } from '../event-log.ts'

export type StoredEvent = {
  readonly id: string
  readonly type: string
  /** With the prefix from the settings. */
  readonly streamName: string
  readonly revision: number
  readonly position: number
  readonly metadata: string
  readonly data: string
}

/** EventStoreDB accepts only UUIDs, and in lower case. The metadata holds any other id. */
const storedIdOf = (id: string): string => (isUuid(id) ? id : uuidOf(id))

/** JSON texts, or empty. */
export type ProposedEvent = {
  readonly id: string
  readonly type: string
  readonly metadata: string
  readonly data: string
}

export const proposedEventOf = (stream: string, event: NewEvent): ProposedEvent => ({
  id: storedIdOf(event.id),
  type: event.type,
  metadata: metadataText(stream, event),
  data: dataText(event),
})

const metadataText = (stream: string, event: NewEvent): string => {
  const { id, recordedAt, metadata } = event
  const head = `{"schemaVersion":${schemaVersion},"recordedAt":${recordedAt}`
  const ownId = isUuid(id) ? '' : `,"id":${JSON.stringify(id)}`
  if (!isUsual(stream, event)) return `${head}${ownId},${JSON.stringify(metadata).slice(1)}`
  const request = metadata.requestId === id ? '' : `,"requestId":${JSON.stringify(metadata.requestId)}`
  return `${head}${ownId}${request}}`
}

const dataText = (event: NewEvent): string =>
  event.type === 'ReadingAccepted' ? readingText(event.data) : JSON.stringify(event.data)

const readingText = (reading: Reading): string => {
  if (!Object.is(reading.value, -0)) return JSON.stringify(reading)
  // `JSON.stringify` would make 0 of -0.
  return `${JSON.stringify({ ...reading, value: undefined }).slice(0, -1)},"value":-0}`
}

/**
 * `stream` is without the prefix. Unreadable events of records become `RecordUnreadable`. @throws UndecodableEvent if an
 * event of another stream is unreadable
 */
export const recordedEventOf = (codec: Codec, stream: string, stored: StoredEvent): RecordedEvent => {
  try {
    return decodedEventOf(codec, stream, stored)
  } catch (cause) {
    const { id, revision, position } = stored
    return unreadableRecord(cause, { stream, revision, position, id, recordedAt: 0 })
  }
}

const decodedEventOf = (codec: Codec, stream: string, stored: StoredEvent): RecordedEvent => {
  const { revision, position, type } = stored
  const data = parsed(stream, stored, stored.data)
  const { schemaVersion: version, recordedAt, id = stored.id, ...metadata } = objectOf(stream, stored, stored.metadata)
  const isWhole = 'by' in metadata
  const whole = isWhole ? metadata : usualMetadata(stream, metadata['requestId'] ?? id)
  return codec.decodeEvent(
    { stream, revision, position },
    { id, type, schemaVersion: version, recordedAt, data, metadata: whole },
  )
}

const usualMetadata = (stream: string, requestId: unknown) => ({
  by: { kind: 'key', keyId: stream.slice(readingsStream('').length) },
  requestId,
  correlationId: requestId,
  causationId: requestId,
})

const isUsual = (stream: string, { type, metadata }: NewEvent): boolean => {
  const { by, requestId, correlationId, causationId } = metadata
  if (type !== 'ReadingAccepted' || by.kind !== 'key' || readingsStream(by.keyId) !== stream) return false
  return correlationId === requestId && causationId === requestId && Object.keys(metadata).length === usualFields
}

const usualFields = 4

const objectOf = (stream: string, stored: StoredEvent, text: string): Readonly<Record<string, unknown>> => {
  const value = parsed(stream, stored, text)
  if (typeof value === 'object' && value !== null) return { ...value }
  throw new UndecodableEvent(stream, stored.revision, stored.type, 'its metadata is not an object')
}

const parsed = (stream: string, { revision, type }: StoredEvent, text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new UndecodableEvent(stream, revision, type, 'it is not JSON', { cause })
  }
}

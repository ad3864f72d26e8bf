/**
 * Encodes a run of readings into the same bytes as `encodeRun`, but from its columns. The objects and texts of each reading would take
 * most of the time.
 */
import { writeSecond } from '../../domain/calendar.ts'
import { isBatch, type ReadingColumns } from '../../domain/reading/columns.ts'
import { ReadingRun, type RunRequest } from '../../domain/reading/recorded-run.ts'
import { readingsStream } from '../../domain/stream-names.ts'
import { isUuid, readingCounter } from '../../domain/uuid.ts'
import { metadataText, proposedEventOf, readingText } from './stored-events.ts'
import { encodeRun, fieldBytes, headOf, proposed, request, uuid, uuidBytes, uuidChars } from './wire.ts'

/**
 * @param stream the name without the prefix from the settings
 * @throws Error if a request with several readings has an id that cannot be counted up (`readingId`)
 */
export const encodeReadings = (stream: string, run: ReadingRun, schemaVersion: number): Buffer => {
  // Ids of requests are UUIDs and the stream is that of the key, except in some tests.
  const isUsual = stream === readingsStream(run.keyId) && run.requests.every(({ requestId }) => isUuid(requestId))
  if (!isUsual) return encodeRun(run.events().map((event) => proposedEventOf(stream, event, schemaVersion)))
  const { keyId, recordedAt } = run
  const ofRun = `{"schemaVersion":${schemaVersion},"recordedAt":${recordedAt}`
  written = 0
  for (const { requestId, readings, idempotency } of run.requests) {
    const first = isBatch(readings) ? readings.readingAt(0) : readings
    const metadata =
      idempotency === null
        ? `${ofRun}}`
        : firstMetadata({ requestId, readings: first, idempotency }, { keyId, recordedAt }, schemaVersion)
    writeFirst(requestId, metadata, readingText(first))
    if (isBatch(readings) && readings.count > 1) {
      writeLater(readings, requestId, `${ofRun},"requestId":"${requestId}"}`)
    }
  }
  return Buffer.from(buffer.subarray(0, written))
}

/** Returns the metadata of the request's first reading, which has the idempotency key. */
const firstMetadata = (
  first: RunRequest,
  { keyId, recordedAt }: Pick<ReadingRun, 'keyId' | 'recordedAt'>,
  schemaVersion: number,
): string =>
  new ReadingRun(keyId, recordedAt, [first])
    .events()
    .map((event) => metadataText(readingsStream(keyId), event, schemaVersion))
    .join('')

const writeFirst = (requestId: string, metadata: string, data: string): void => {
  const head = headOf('ReadingAccepted')
  const dataBytes = Buffer.byteLength(data)
  const eventBytes = fieldBytes(uuidBytes) + head.length + fieldBytes(metadata.length) + fieldBytes(dataBytes)
  need(fieldBytes(eventBytes))
  writeTag(request.proposedMessages, eventBytes)
  writeTag(proposed.id, uuidBytes)
  writeTag(uuid.string, uuidChars)
  writeAscii(requestId)
  writeBytes(head)
  writeTag(proposed.customMetadata, metadata.length)
  writeAscii(metadata)
  writeTag(proposed.data, dataBytes)
  written += buffer.write(data, written, dataBytes === data.length ? 'latin1' : 'utf8')
}

/** Writes all readings of a batch except the first one. */
const writeLater = (readings: ReadingColumns, requestId: string, metadata: string): void => {
  const { count, racks, kegs, values, timesMs, texts, cellar } = readings
  const front = frontOf(requestId, metadata)
  const cellarAndRack = Buffer.concat([Buffer.from('{"cellar":"'), cellar.json, Buffer.from('","rack":"')])
  for (let index = 1; index < count; index += 1) {
    const [rack, keg] = [racks[index]?.json, kegs[index]?.json]
    if (rack === undefined || keg === undefined) throw new Error('Cannot encode columns of different lengths')
    const value = values[index] ?? 0
    const isMinusZero = Object.is(value, -0)
    const valueText = isMinusZero ? '-0' : String(value)
    const text = texts?.[index] ?? null
    const timestampChars = text === null ? secondChars : text.length
    const dataBytes =
      cellarAndRack.length + rack.length + keg.length + valueText.length + timestampChars + betweenFields
    const eventBytes = front.length + fieldBytes(dataBytes)
    need(fieldBytes(eventBytes))
    writeTag(request.proposedMessages, eventBytes)
    writeBytes(front)
    writeCounter(written - front.length + uuidEnd, readingCounter(requestId, index))
    writeTag(proposed.data, dataBytes)
    writeBytes(cellarAndRack)
    writeBytes(rack)
    writeBytes(kegField)
    writeBytes(keg)
    // `readingText` writes the value -0 as the last field.
    if (!isMinusZero) writeValue(valueField, valueText)
    writeBytes(isMinusZero ? timestampAfterKeg : timestampField)
    if (text === null) written = writeSecond(buffer, written, timesMs[index] ?? 0)
    else writeAscii(text)
    buffer[written++] = quotationMark
    if (isMinusZero) writeValue(valueAfterTimestamp, valueText)
    buffer[written++] = closingBrace
  }
}

const secondChars = '2026-03-01T12:00:00Z'.length
const kegField = Buffer.from('","keg":"')
const valueField = Buffer.from('","value":')
const timestampField = Buffer.from(',"timestamp":"')
const timestampAfterKeg = Buffer.from('","timestamp":"')
const valueAfterTimestamp = Buffer.from(',"value":')
const quotationMark = 0x22
const closingBrace = 0x7d
const betweenFields = kegField.length + valueField.length + timestampField.length + '"}'.length

const writeValue = (field: Buffer, value: string): void => {
  writeBytes(field)
  writeAscii(value)
}

/** Returns what precedes the data of a later reading. Readings of a request differ here only in the last digits of the id. */
const frontOf = (requestId: string, metadata: string): Buffer => {
  const begin = written
  need(requestId.length + metadata.length + frontBytesMax)
  writeTag(proposed.id, uuidBytes)
  writeTag(uuid.string, uuidChars)
  writeAscii(requestId)
  writeBytes(headOf('ReadingAccepted'))
  writeTag(proposed.customMetadata, metadata.length)
  writeAscii(metadata)
  const front = Buffer.from(buffer.subarray(begin, written))
  written = begin
  return front
}

/** More than the tags and the types in `frontOf`. */
const frontBytesMax = 200

/** Where the id ends in the bytes of `frontOf`. */
const uuidEnd = 4 + uuidChars

// All runs are written into this buffer, which grows when needed. `written` is the number of bytes of the current run.
let buffer = Buffer.alloc(64 * 1024)
let written = 0

const need = (bytes: number): void => {
  if (written + bytes <= buffer.length) return
  const grown = Buffer.alloc(Math.max(buffer.length * 2, written + bytes))
  grown.set(buffer)
  buffer = grown
}

/** Writes the tag and the length of a field. An append is far below 2^31 bytes, so bit operators are exact. */
const writeTag = (field: number, bytes: number): void => {
  buffer[written++] = field * 8 + 2
  let rest = bytes
  while (rest > 127) {
    buffer[written++] = (rest & 127) | 128
    rest >>= 7
  }
  buffer[written++] = rest
}

/** Copies few bytes in a loop, because a call of the engine's own copy takes longer. */
const writeBytes = (bytes: Uint8Array): void => {
  const { length } = bytes
  if (length > loopBytesMax) buffer.set(bytes, written)
  else for (let at = 0; at < length; at += 1) buffer[written + at] = bytes[at] ?? 0
  written += length
}

const loopBytesMax = 48

const writeAscii = (text: string): void => {
  const { length } = text
  for (let at = 0; at < length; at += 1) buffer[written + at] = text.charCodeAt(at)
  written += length
}

const hexDigits = Buffer.from('0123456789abcdef')

const writeCounter = (end: number, counter: number): void => {
  buffer[end - 3] = hexDigits[counter >> 8] ?? 0
  buffer[end - 2] = hexDigits[(counter >> 4) & 15] ?? 0
  buffer[end - 1] = hexDigits[counter & 15] ?? 0
}

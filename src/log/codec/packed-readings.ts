/**
 * Packs consecutive readings into one row of the embedded log. A row with one reading takes 63 bytes, if the reading's
 * three names have 32 characters in total. JSON takes about 450.
 *
 *   byte      format: 1.
 *   byte      flags of the row. No flag is used yet, so a row with a flag is refused.
 *   then, for each reading:
 *     byte      flags.
 *     varint    if `movedOn`: ms since `recordedAt` of the previous reading.
 *     16 bytes  id; text if `idIsText`. No bytes if `isOfBatch`: the id and the metadata are computed from the request of
 *               the previous reading (`domain/uuid.ts`).
 *     3 names   cellar, rack, keg; a name that occurs earlier in the row is stored as its number.
 *     8 bytes   value, IEEE 754, lowest byte first.
 *     varint    timestamp, seconds after `recordedAt` (negative: before). If `timestampIsText`: the text, because its
 *               form is not `YYYY-MM-DDThh:mm:ssZ`.
 *     text      if `hasMetadata`: metadata as JSON; otherwise the metadata is computed (`usualMetadata`).
 *     bytes     if `hasIdempotency`: the idempotency key (`packed-idempotency.ts`).
 *
 * Stream, revision, position and the first `recordedAt` are columns of the row.
 */

import { ByteReader, ByteWriter } from '../../bytes/bytes.ts'
import { readName, readText, writeText } from '../../bytes/packed-text.ts'
import type { EventData, Metadata, RecordedEvent } from '../../domain/events.ts'
import { isBatch, type ReadingColumns } from '../../domain/reading/columns.ts'
import type { Reading } from '../../domain/reading/fields.ts'
import type { Idempotency } from '../../domain/reading/idempotency-key.ts'
import { parseTimestamp } from '../../domain/reading/parse-timestamp.ts'
import type { ReadingRun, RunRequest } from '../../domain/reading/recorded-run.ts'
import { readingsStream } from '../../domain/stream-names.ts'
import { readingId, uuidBytes, uuidText } from '../../domain/uuid.ts'
import { readIdempotency, writeIdempotency } from './packed-idempotency.ts'
import type { RowBuffers } from './row-buffers.ts'
import { RowNames } from './row-names.ts'
import { timestampText } from './timestamp-text.ts'

/** Smaller rows are copied. */
const bufferedRowBytesMin = 8 * 1024

export const format = 1
export const flags = {
  movedOn: 1,
  idIsText: 2,
  timestampIsText: 4,
  hasMetadata: 8,
  isOfBatch: 16,
  hasIdempotency: 32,
} as const
export const knownFlags = 63

const readingsPrefix = 'readings-'
const contractTimestampChars = 20

export type ReadingToPack = {
  readonly id: string
  readonly recordedAt: number
  readonly data: EventData<'ReadingAccepted'>
  readonly metadata: Metadata
}

const writer = new ByteWriter()

export const packReadings = (stream: string, readings: readonly ReadingToPack[]): Uint8Array => {
  const keyId = keyIdOf(stream)
  const row: Row = {
    keyId,
    names: new RowNames(writer),
    recordedAt: readings[0]?.recordedAt ?? 0,
    requestId: null,
    ofRequest: 0,
  }
  writer.begin()
  writer.byte(format)
  writer.byte(0)
  for (const reading of readings) pack(reading, row)
  return writer.finish()
}

/** `isInBuffer`: its memory must go back to the `RowBuffers`. */
export type PackedRun = { readonly row: Uint8Array; readonly isInBuffer: boolean }

/** Packs the same bytes as its events. @throws Error if the id of a batch cannot be counted up (`readingId`) */
export const packRun = (run: ReadingRun, buffers: RowBuffers): PackedRun => {
  // Ids of requests are UUIDs, except in some tests.
  if (run.requests.some(({ readings, requestId }) => isBatch(readings) && uuidBytes(requestId) === null)) {
    return { row: packReadings(readingsStream(run.keyId), run.events()), isInBuffer: false }
  }
  const names = new RowNames(writer)
  writer.begin()
  writer.byte(format)
  writer.byte(0)
  for (const request of run.requests) {
    if (isBatch(request.readings)) packColumns(request.readings, request, { recordedAt: run.recordedAt, names })
    else packSingle(request.readings, request, { recordedAt: run.recordedAt, names })
  }
  const next = writer.length < bufferedRowBytesMin ? null : buffers.take()
  return next === null ? { row: writer.finish(), isInBuffer: false } : { row: writer.handOver(next), isInBuffer: true }
}

type InRow = { readonly recordedAt: number; readonly names: RowNames }

const packSingle = (reading: Reading, { requestId, idempotency }: RunRequest, { recordedAt, names }: InRow): void => {
  const timeMs = packedTimeOf(reading)
  const id = uuidBytes(requestId)
  writer.byte(
    (id === null ? flags.idIsText : 0) | flagsOfData(timeMs) | (idempotency === null ? 0 : flags.hasIdempotency),
  )
  if (id === null) writeText(writer, requestId)
  else writer.bytes(id)
  packData(reading, timeMs, { recordedAt, names })
  if (idempotency !== null) writeIdempotency(writer, idempotency)
}

/** `null`: the row must have the timestamp's text. */
const packedTimeOf = ({ timestamp }: Reading): number | null => {
  const timeMs = timestamp.length === contractTimestampChars ? parseTimestamp(timestamp) : 'form'
  return typeof timeMs === 'string' ? null : timeMs
}

const flagsOfData = (timeMs: number | null): number => (timeMs === null ? flags.timestampIsText : 0)

/** `packColumns` writes the same from columns: an object for each reading would double the time. */
const packData = (
  { cellar, rack, keg, value, timestamp }: Reading,
  timeMs: number | null,
  { recordedAt, names }: InRow,
): void => {
  names.write(cellar)
  names.write(rack)
  names.write(keg)
  writer.float64(value)
  if (timeMs === null) writeText(writer, timestamp)
  else writer.signedVarint(timeMs / 1_000 - secondsOf(recordedAt))
}

const packColumns = (
  { count, cellar, racks, kegs, values, timesMs, texts }: ReadingColumns,
  { requestId, idempotency }: RunRequest,
  { recordedAt, names }: InRow,
): void => {
  const seconds = secondsOf(recordedAt)
  for (let index = 0; index < count; index += 1) {
    const [rack, keg] = [racks[index], kegs[index]]
    if (rack === undefined || keg === undefined) throw new Error('Cannot pack columns of different lengths')
    const text = texts?.[index] ?? null
    const ofRequest = index > 0 ? flags.isOfBatch : idempotency === null ? 0 : flags.hasIdempotency
    writer.byte(text === null ? ofRequest : ofRequest | flags.timestampIsText)
    if (index === 0) writer.bytes(uuidBytes(requestId) ?? noId)
    names.writeShared(cellar)
    names.writeShared(rack)
    names.writeShared(keg)
    writer.float64(values[index] ?? 0)
    if (text === null) writer.signedVarint((timesMs[index] ?? 0) / 1_000 - seconds)
    else writeText(writer, text)
    if (index === 0 && idempotency !== null) writeIdempotency(writer, idempotency)
  }
}

const noId = new Uint8Array(16)

type Row = {
  readonly keyId: string | null
  readonly names: RowNames
  /** Of the previous reading: only differences are stored. */
  recordedAt: number
  /** If it is a UUID. With `ofRequest`, it gives the id of the request's next reading. */
  requestId: string | null
  ofRequest: number
}

const pack = (reading: ReadingToPack, row: Row): void => {
  const { data, metadata } = reading
  const movedOnMs = reading.recordedAt - row.recordedAt
  const isOfBatch = isNextOfBatch(reading, row)
  const id = isOfBatch ? null : uuidBytes(reading.id)
  const timeMs = packedTimeOf(data)
  const isUsual = isOfBatch || isUsualMetadata(metadata, row.keyId, reading.id)
  const idempotency = isUsual ? metadata.idempotency : undefined
  writer.byte(
    (movedOnMs === 0 ? 0 : flags.movedOn) |
      (id === null && !isOfBatch ? flags.idIsText : 0) |
      flagsOfData(timeMs) |
      (isUsual ? 0 : flags.hasMetadata) |
      (isOfBatch ? flags.isOfBatch : 0) |
      (idempotency === undefined ? 0 : flags.hasIdempotency),
  )
  if (movedOnMs !== 0) writer.signedVarint(movedOnMs)
  if (id !== null) writer.bytes(id)
  else if (!isOfBatch) writeText(writer, reading.id)
  packData(data, timeMs, { recordedAt: reading.recordedAt, names: row.names })
  if (!isUsual) writeText(writer, JSON.stringify(metadata))
  if (idempotency !== undefined) writeIdempotency(writer, idempotency)
  row.recordedAt = reading.recordedAt
  if (isOfBatch) row.ofRequest += 1
  else {
    row.requestId = id === null ? null : reading.id
    row.ofRequest = 1
  }
}

/** True: id and metadata follow from the previous reading, and are not stored. */
const isNextOfBatch = ({ id, metadata }: ReadingToPack, { keyId, requestId, ofRequest }: Row): boolean =>
  requestId !== null &&
  metadata.idempotency === undefined &&
  isUsualMetadata(metadata, keyId, requestId) &&
  id === readingId(requestId, ofRequest)

export const secondsOf = (ms: number): number => Math.floor(ms / 1_000)

export const keyIdOf = (stream: string): string | null =>
  stream.startsWith(readingsPrefix) ? stream.slice(readingsPrefix.length) : null

const usualMetadata = (by: Metadata['by'], requestId: string): Metadata => ({
  by,
  requestId,
  correlationId: requestId,
  causationId: requestId,
})

/** True: the metadata is not stored. `idempotency` has a field of its own. */
const isUsualMetadata = (metadata: Metadata, keyId: string | null, requestId: string): boolean =>
  metadata.requestId === requestId &&
  metadata.correlationId === requestId &&
  metadata.causationId === requestId &&
  metadata.by.kind === 'key' &&
  metadata.by.keyId === keyId

export type PackedRow = {
  readonly stream: string
  readonly revision: number
  readonly position: number
  readonly count: number
  readonly recordedAt: number
}

/** `end` is not included. */
export type Part = { readonly first: number; readonly end: number }

/**
 * Never looks behind `part`, so one event of a long row is cheap. @param metadataOf decodes JSON. @throws RangeError for
 * bytes that are not a packed row
 */
export const unpackReadings = (
  { row, body, part }: { readonly row: PackedRow; readonly body: Uint8Array; readonly part: Part },
  metadataOf: (json: string) => Metadata,
): readonly RecordedEvent<'ReadingAccepted'>[] => {
  const reader = new ByteReader(body)
  const rowFormat = reader.byte()
  if (rowFormat !== format)
    throw new RangeError(`it is packed in format ${rowFormat}, and this version knows ${format}`)
  if (reader.byte() !== 0) throw new RangeError('it is packed with flags that this version does not know')
  const readings: RecordedEvent<'ReadingAccepted'>[] = []
  const names: string[] = []
  const ids = new UnpackedIds(reader, { kind: 'key', keyId: keyIdOf(row.stream) ?? '' })
  let { recordedAt } = row
  for (let index = 0; index < part.end; index++) {
    const flagBits = reader.byte()
    if (flagBits > knownFlags) throw new RangeError('a reading in it has flags that this version does not know')
    if ((flagBits & flags.movedOn) !== 0) recordedAt += reader.signedVarint()
    ids.next(flagBits)
    if (index < part.first) {
      skipReading(reader, names, flagBits)
      continue
    }
    const { id } = ids
    const data = unpackData(reader, names, { recordedAt, isText: (flagBits & flags.timestampIsText) !== 0 })
    const metadata = (flagBits & flags.hasMetadata) === 0 ? ids.usualMetadata() : metadataOf(readText(reader))
    const idempotency = unpackIdempotency(reader, flagBits)
    readings.push({
      id,
      type: 'ReadingAccepted',
      recordedAt,
      data,
      metadata: idempotency === null ? metadata : { ...metadata, idempotency },
      stream: row.stream,
      revision: row.revision + index,
      position: row.position + index,
    })
  }
  if (part.end === row.count && !reader.isAtEnd) throw new RangeError('bytes follow its last reading')
  return readings
}

class UnpackedIds {
  readonly #reader: ByteReader
  readonly #by: Metadata['by']
  /** A text, or the offset of its 16 bytes until the text is needed. Later readings of the batch count up from it. */
  #ownId: string | number | null = null
  /** Shared by the readings of a request, to save time and memory. */
  #metadata: Metadata | null = null
  #ofRequest = 0

  constructor(reader: ByteReader, by: Metadata['by']) {
    this.#reader = reader
    this.#by = by
  }

  next(flagBits: number): void {
    if ((flagBits & flags.isOfBatch) !== 0) {
      if (this.#ownId === null) throw new RangeError('a reading in it belongs to a batch without a first reading')
      this.#ofRequest += 1
      return
    }
    this.#ownId = (flagBits & flags.idIsText) !== 0 ? readText(this.#reader) : this.#reader.skip(16)
    this.#metadata = null
    this.#ofRequest = 1
  }

  get id(): string {
    return this.#ofRequest === 1 ? this.#requestId : readingId(this.#requestId, this.#ofRequest - 1)
  }

  usualMetadata(): Metadata {
    this.#metadata ??= usualMetadata(this.#by, this.#requestId)
    return this.#metadata
  }

  get #requestId(): string {
    if (typeof this.#ownId === 'number') this.#ownId = uuidText(this.#reader.bytes, this.#ownId)
    return this.#ownId ?? ''
  }
}

/** Later readings refer to these names by number. */
const skipReading = (reader: ByteReader, names: string[], flagBits: number): void => {
  for (let name = 0; name < 3; name++) readName(reader, names)
  reader.skip(8)
  if ((flagBits & flags.timestampIsText) === 0) reader.varint()
  else readText(reader)
  if ((flagBits & flags.hasMetadata) !== 0) readText(reader)
  unpackIdempotency(reader, flagBits)
}

export const unpackIdempotency = (reader: ByteReader, flagBits: number): Idempotency | null =>
  (flagBits & flags.hasIdempotency) === 0 ? null : readIdempotency(reader)

const unpackData = (
  reader: ByteReader,
  names: string[],
  timestamp: { readonly recordedAt: number; readonly isText: boolean },
): EventData<'ReadingAccepted'> => ({
  cellar: readName(reader, names),
  rack: readName(reader, names),
  keg: readName(reader, names),
  value: reader.float64(),
  timestamp: timestamp.isText
    ? readText(reader)
    : timestampText(secondsOf(timestamp.recordedAt) + reader.signedVarint()),
})

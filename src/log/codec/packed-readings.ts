/**
 * A run of readings as one row of bytes. Nothing is ever rewritten, so the form is compact from the start: a reading with
 * names of 32 characters takes 63 bytes by itself, where JSON with text ids takes about 450.
 *
 *   byte 0    format: 1
 *   byte 1    flags of the whole row, all reserved: a row with one set is refused, not misread
 *   then, for each reading:
 *     byte      its flags
 *     varint    if `movedOn`: recordedAt, ms after the reading before it
 *     16 bytes  its id; a text if `idIsText`; nothing if `isOfBatch`: the reading before it has the same request, and its id
 *               follows from that request's (`domain/reading-id.ts`)
 *     3 names   cellar, rack, keg; one that the row has had already is its number
 *     8 bytes   value, IEEE 754, lowest byte first: every number exactly, -0 too
 *     varint    timestamp, seconds after recordedAt; a text if `timestampIsText`, because only the contract's own form
 *               can be made again from its seconds
 *     text      if `hasMetadata`: its metadata as JSON. Else they follow from key and request, see `usualMetadata`.
 *     bytes     if `isKeyed`: what its request's `Idempotency-Key` needs (`packed-idempotency.ts`)
 *
 * Stream, revision, position and the first recordedAt are columns of the row.
 */

import { ByteReader, ByteWriter } from '../../bytes/bytes.ts'
import { readName, readText, type WrittenTexts, writeName, writeText } from '../../bytes/packed-text.ts'
import type { EventData, Metadata, RecordedEvent } from '../../domain/events.ts'
import { readingId } from '../../domain/reading-id.ts'
import { parseTimestamp } from '../../domain/timestamp.ts'
import { readIdempotency, writeIdempotency } from './packed-idempotency.ts'
import { timestampText } from './timestamp-text.ts'
import { uuidBytes, uuidText } from './uuid-bytes.ts'

const format = 1
const flags = { movedOn: 1, idIsText: 2, timestampIsText: 4, hasMetadata: 8, isOfBatch: 16, isKeyed: 32 } as const
const knownFlags = 63

const readingsPrefix = 'readings-'
const contractTimestampChars = 20

/** A reading that is to be packed: what the row's columns do not say. */
export type Reading = {
  readonly id: string
  readonly recordedAt: number
  readonly data: EventData<'ReadingAccepted'>
  readonly metadata: Metadata
}

const writer = new ByteWriter()

export const packReadings = (stream: string, readings: readonly Reading[]): Uint8Array => {
  const keyId = keyIdOf(stream)
  const names: WrittenTexts = new Map()
  const row: Row = { keyId, names, recordedAt: readings[0]?.recordedAt ?? 0, requestId: null, ofRequest: 0 }
  writer.begin()
  writer.byte(format)
  writer.byte(0)
  for (const reading of readings) pack(reading, row)
  return writer.finish()
}

/** What the next reading may refer to. */
type Row = {
  readonly keyId: string | null
  readonly names: WrittenTexts
  /** Of the reading before. */
  recordedAt: number
  /** The request that a reading may be a further one of, and how many the row has of it; `null`: none. */
  requestId: string | null
  ofRequest: number
}

const pack = (reading: Reading, row: Row): void => {
  const { data, metadata } = reading
  const movedOnMs = reading.recordedAt - row.recordedAt
  const isOfBatch = isNextOfBatch(reading, row)
  const id = isOfBatch ? null : uuidBytes(reading.id)
  const isContractForm = data.timestamp.length === contractTimestampChars
  const instantMs = isContractForm ? parseTimestamp(data.timestamp) : 'form'
  const isUsual = isOfBatch || isUsualMetadata(metadata, row.keyId, reading.id)
  const keyed = isUsual ? metadata.idempotency : undefined
  writer.byte(
    (movedOnMs === 0 ? 0 : flags.movedOn) |
      (id === null && !isOfBatch ? flags.idIsText : 0) |
      (typeof instantMs === 'string' ? flags.timestampIsText : 0) |
      (isUsual ? 0 : flags.hasMetadata) |
      (isOfBatch ? flags.isOfBatch : 0) |
      (keyed === undefined ? 0 : flags.isKeyed),
  )
  if (movedOnMs !== 0) writer.signedVarint(movedOnMs)
  if (id !== null) writer.bytes(id)
  else if (!isOfBatch) writeText(writer, reading.id)
  writeName(writer, data.cellar, row.names)
  writeName(writer, data.rack, row.names)
  writeName(writer, data.keg, row.names)
  writer.float64(data.value)
  if (typeof instantMs === 'string') writeText(writer, data.timestamp)
  else writer.signedVarint(instantMs / 1_000 - secondsOf(reading.recordedAt))
  if (!isUsual) writeText(writer, JSON.stringify(metadata))
  if (keyed !== undefined) writeIdempotency(writer, keyed)
  row.recordedAt = reading.recordedAt
  if (isOfBatch) row.ofRequest += 1
  else {
    row.requestId = id === null ? null : reading.id
    row.ofRequest = 1
  }
}

/** The first of a batch may have any metadata: it alone says more of its request than the others. */
const isNextOfBatch = ({ id, metadata }: Reading, { keyId, requestId, ofRequest }: Row): boolean =>
  requestId !== null &&
  metadata.idempotency === undefined &&
  isUsualMetadata(metadata, keyId, requestId) &&
  id === readingId(requestId, ofRequest)

const secondsOf = (ms: number): number => Math.floor(ms / 1_000)

const keyIdOf = (stream: string): string | null =>
  stream.startsWith(readingsPrefix) ? stream.slice(readingsPrefix.length) : null

/** What the service writes with every reading: the key did it, and its request is the beginning and the cause. */
const usualMetadata = (by: Metadata['by'], requestId: string): Metadata => ({
  by,
  requestId,
  correlationId: requestId,
  causationId: requestId,
})

/** Whatever its `Idempotency-Key` says: that is packed beside them. */
const isUsualMetadata = (metadata: Metadata, keyId: string | null, requestId: string): boolean =>
  metadata.requestId === requestId &&
  metadata.correlationId === requestId &&
  metadata.causationId === requestId &&
  metadata.by.kind === 'key' &&
  metadata.by.keyId === keyId

/** Where a packed row lies, and how many readings it has. */
export type PackedRow = {
  readonly stream: string
  readonly revision: number
  readonly position: number
  readonly count: number
  readonly recordedAt: number
}

/**
 * @param metadataOf makes metadata of the JSON that was stored, where they are not the usual ones.
 * @throws RangeError saying what is wrong with the bytes.
 */
export const unpackReadings = (
  row: PackedRow,
  body: Uint8Array,
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
  for (let index = 0; index < row.count; index++) {
    const flagBits = reader.byte()
    if (flagBits > knownFlags) throw new RangeError('a reading in it has flags that this version does not know')
    if ((flagBits & flags.movedOn) !== 0) recordedAt += reader.signedVarint()
    const id = ids.next(flagBits)
    const data = unpackData(reader, names, { recordedAt, isText: (flagBits & flags.timestampIsText) !== 0 })
    const metadata = (flagBits & flags.hasMetadata) === 0 ? ids.usualMetadata() : metadataOf(readText(reader))
    readings.push({
      id,
      type: 'ReadingAccepted',
      recordedAt,
      data,
      metadata: (flagBits & flags.isKeyed) === 0 ? metadata : { ...metadata, idempotency: readIdempotency(reader) },
      stream: row.stream,
      revision: row.revision + index,
      position: row.position + index,
    })
  }
  if (!reader.isAtEnd) throw new RangeError('bytes are left over behind its last reading')
  return readings
}

/** The ids of a row's readings one after the other, and the metadata that follow from them. */
class UnpackedIds {
  readonly #reader: ByteReader
  readonly #by: Metadata['by']
  /** Of the reading that had an id of its own last; further ones of its batch share one object of metadata. */
  #requestId: string | null = null
  #metadata: Metadata | null = null
  #ofRequest = 0

  constructor(reader: ByteReader, by: Metadata['by']) {
    this.#reader = reader
    this.#by = by
  }

  next(flagBits: number): string {
    if ((flagBits & flags.isOfBatch) !== 0) {
      if (this.#requestId === null) throw new RangeError('a reading in it is of a batch that has no first one')
      const id = readingId(this.#requestId, this.#ofRequest)
      this.#ofRequest += 1
      return id
    }
    const isText = (flagBits & flags.idIsText) !== 0
    const id = isText ? readText(this.#reader) : uuidText(this.#reader.bytes, this.#reader.skip(16))
    this.#requestId = id
    this.#metadata = null
    this.#ofRequest = 1
    return id
  }

  usualMetadata(): Metadata {
    this.#metadata ??= usualMetadata(this.#by, this.#requestId ?? '')
    return this.#metadata
  }
}

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

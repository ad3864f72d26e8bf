/**
 * A run of readings as one row of bytes. Nothing is ever rewritten, so the form is compact from the start: a reading with
 * names of 32 characters takes 63 bytes by itself, where JSON with text ids takes about 450.
 *
 *   byte 0    format: 1
 *   byte 1    flags of the whole row, all reserved: a row with one set is refused, not misread
 *   then, for each reading:
 *     byte      its flags
 *     varint    if `movedOn`: recordedAt, ms after the reading before it
 *     16 bytes  its id; a text if `idIsText`
 *     3 names   cellar, rack, keg; one that the row has had already is its number
 *     8 bytes   value, IEEE 754, lowest byte first: every number exactly, -0 too
 *     varint    timestamp, seconds after recordedAt; a text if `timestampIsText`, because only the contract's own form
 *               can be made again from its seconds
 *     text      if `hasMetadata`: its metadata as JSON. Else they follow from key and id, see `usualMetadata`.
 *
 * Stream, revision, position and the first recordedAt are columns of the row.
 */
import type { EventData, Metadata, RecordedEvent } from '../domain/events.ts'
import { parseTimestamp } from '../domain/timestamp.ts'
import { ByteReader, ByteWriter } from './bytes.ts'
import { readName, readText, type WrittenTexts, writeName, writeText } from './packed-text.ts'
import { timestampText } from './timestamp-text.ts'
import { uuidBytes, uuidText } from './uuid-bytes.ts'

const format = 1
const flags = { movedOn: 1, idIsText: 2, timestampIsText: 4, hasMetadata: 8 } as const
const knownFlags = 15

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
  let recordedAt = readings[0]?.recordedAt ?? 0
  writer.begin()
  writer.byte(format)
  writer.byte(0)
  for (const reading of readings) {
    pack(reading, { keyId, names, movedOnMs: reading.recordedAt - recordedAt })
    recordedAt = reading.recordedAt
  }
  return writer.finish()
}

type Row = { readonly keyId: string | null; readonly names: WrittenTexts; readonly movedOnMs: number }

const pack = (reading: Reading, row: Row): void => {
  const { data, metadata } = reading
  const id = uuidBytes(reading.id)
  const isContractForm = data.timestamp.length === contractTimestampChars
  const instantMs = isContractForm ? parseTimestamp(data.timestamp) : 'form'
  const isUsual = isUsualMetadata(metadata, row.keyId, reading.id)
  writer.byte(
    (row.movedOnMs === 0 ? 0 : flags.movedOn) |
      (id === null ? flags.idIsText : 0) |
      (typeof instantMs === 'string' ? flags.timestampIsText : 0) |
      (isUsual ? 0 : flags.hasMetadata),
  )
  if (row.movedOnMs !== 0) writer.signedVarint(row.movedOnMs)
  if (id === null) writeText(writer, reading.id)
  else writer.bytes(id)
  writeName(writer, data.cellar, row.names)
  writeName(writer, data.rack, row.names)
  writeName(writer, data.keg, row.names)
  writer.float64(data.value)
  if (typeof instantMs === 'string') writeText(writer, data.timestamp)
  else writer.signedVarint(instantMs / 1_000 - secondsOf(reading.recordedAt))
  if (!isUsual) writeText(writer, JSON.stringify(metadata))
}

const secondsOf = (ms: number): number => Math.floor(ms / 1_000)

const keyIdOf = (stream: string): string | null =>
  stream.startsWith(readingsPrefix) ? stream.slice(readingsPrefix.length) : null

/** What the service writes with every reading: the key did it, and its request is the beginning and the cause. */
const usualMetadata = (by: Metadata['by'], id: string): Metadata => ({
  by,
  requestId: id,
  correlationId: id,
  causationId: id,
})

const isUsualMetadata = (metadata: Metadata, keyId: string | null, id: string): boolean =>
  metadata.by.kind === 'key' &&
  metadata.by.keyId === keyId &&
  metadata.requestId === id &&
  metadata.correlationId === id &&
  metadata.causationId === id

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
  const by: Metadata['by'] = { kind: 'key', keyId: keyIdOf(row.stream) ?? '' }
  let { recordedAt } = row
  for (let index = 0; index < row.count; index++) {
    const flagBits = reader.byte()
    if (flagBits > knownFlags) throw new RangeError('a reading in it has flags that this version does not know')
    if ((flagBits & flags.movedOn) !== 0) recordedAt += reader.signedVarint()
    const id = (flagBits & flags.idIsText) === 0 ? uuidText(body, reader.skip(16)) : readText(reader)
    const data = unpackData(reader, names, { recordedAt, isText: (flagBits & flags.timestampIsText) !== 0 })
    readings.push({
      id,
      type: 'ReadingAccepted',
      recordedAt,
      data,
      metadata: (flagBits & flags.hasMetadata) === 0 ? usualMetadata(by, id) : metadataOf(readText(reader)),
      stream: row.stream,
      revision: row.revision + index,
      position: row.position + index,
    })
  }
  if (!reader.isAtEnd) throw new RangeError('bytes are left over behind its last reading')
  return readings
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

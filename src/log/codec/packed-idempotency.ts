/**
 * Packs the data of an `Idempotency-Key` behind the first reading that the request stored. So a repeat of the request
 * gets the same answer. Refused items are not stored: a repeat checks all items again, with the rules, time and bounds
 * of the first request. The fields are:
 *
 *   varint    version of this data: 2. Data of version 1 has no such number.
 *   32 bytes  hash of the idempotency key.
 *   32 bytes  hash of the request's body.
 *   varint    number of accepted readings in a batch; 0: the request was a single reading.
 *   then, for a batch:
 *     varint    number of refused items; 0: nothing follows.
 *     varint    version of the rules for items (`judgementRules`) at the first request. 0: the data was converted from
 *               version 1, and only a text follows, with all refusals as JSON.
 *     varint    time at which the items were refused, in ms.
 *     3 varints the cellar's bounds at that time, in ms plus 1; 0: no bound. They are the highest age of a timestamp,
 *               how far a timestamp may be ahead of the clock, and how long readings are kept.
 *
 * Version 1, which only old rows have:
 *
 *   32 bytes, 32 bytes, varint   the hashes and the number of accepted readings, as in version 2.
 *   text      for a batch: the refusals of its items as JSON; empty if no item was refused.
 */
import type { ByteReader, ByteWriter } from '../../bytes/bytes.ts'
import { readText, writeText } from '../../bytes/packed-text.ts'
import type { Idempotency, Refusals } from '../../domain/reading/idempotency-key.ts'
import { newestIdempotency } from './stored-idempotency.ts'
import { idempotencyVersion } from './upcast.ts'

const hashBytes = 32
const verdictsFollow = 0

export const writeIdempotency = (writer: ByteWriter, { keyHash, bodyHash, batch }: Idempotency): void => {
  writer.varint(idempotencyVersion)
  writer.bytes(hashBytesOf(keyHash))
  writer.bytes(hashBytesOf(bodyHash))
  writer.varint(batch?.accepted ?? 0)
  if (batch === null) return
  if (batch.refusals === null) writer.varint(0)
  else writeRefusals(writer, batch.refusals)
}

const writeRefusals = (writer: ByteWriter, refusals: Refusals): void => {
  if (refusals.kind === 'verdicts') {
    writer.varint(refusals.items.length)
    writer.varint(verdictsFollow)
    writeText(writer, JSON.stringify(refusals.items))
    return
  }
  const { rejected, rules, atMs, bounds } = refusals
  for (const number of [rejected, rules, atMs]) writer.varint(number)
  for (const bound of [bounds.readingAgeMsMax, bounds.readingAheadMsMax, bounds.retentionMs]) {
    writer.varint(bound === null ? 0 : bound + 1)
  }
}

/** @throws RangeError for an unknown version, or for bytes that are not idempotency data */
export const readIdempotency = (reader: ByteReader): Idempotency => {
  const version = reader.varint()
  if (version !== idempotencyVersion) {
    throw new RangeError(`its idempotency data has version ${version}, and this version knows ${idempotencyVersion}`)
  }
  const hashes = readHashes(reader)
  const accepted = reader.varint()
  const batch = accepted === 0 ? null : { accepted, refusals: readRefusals(reader) }
  return newestIdempotency(version, { ...hashes, batch })
}

const readRefusals = (reader: ByteReader): unknown => {
  const rejected = reader.varint()
  if (rejected === 0) return null
  const rules = reader.varint()
  if (rules === verdictsFollow) return { kind: 'verdicts', items: parseVerdicts(readText(reader)) }
  const atMs = reader.varint()
  const bounds = {
    readingAgeMsMax: readBound(reader),
    readingAheadMsMax: readBound(reader),
    retentionMs: readBound(reader),
  }
  return { kind: 'judgement', rejected, rules, atMs, bounds }
}

const readBound = (reader: ByteReader): number | null => {
  const number = reader.varint()
  return number === 0 ? null : number - 1
}

/**
 * Reads idempotency data of version 1, which old rows can still contain.
 * @throws RangeError for bytes that are not such data
 */
export const readFirstIdempotency = (reader: ByteReader): Idempotency => {
  const hashes = readHashes(reader)
  const accepted = reader.varint()
  const batch = accepted === 0 ? null : { accepted, rejected: parseVerdicts(readText(reader)) }
  return newestIdempotency(1, { ...hashes, batch })
}

export const hashBytesOf = (hex: string): Uint8Array => {
  const bytes = Uint8Array.fromHex(hex)
  if (bytes.length !== hashBytes) throw new Error(`Cannot store a hash of ${bytes.length} bytes: it has ${hashBytes}`)
  return bytes
}

const readHashes = (reader: ByteReader) => ({ keyHash: readHash(reader), bodyHash: readHash(reader) })

const readHash = (reader: ByteReader): string => {
  const from = reader.skip(hashBytes)
  return reader.bytes.subarray(from, from + hashBytes).toHex()
}

const parseVerdicts = (json: string): unknown => {
  if (json === '') return []
  try {
    return JSON.parse(json)
  } catch (cause) {
    throw new RangeError('the verdicts of its refused items are not JSON', { cause })
  }
}

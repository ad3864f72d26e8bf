/**
 * Packs the data of an `Idempotency-Key` behind the first reading that the request stored. So a repeat of the request
 * gets the same answer. Refused items are not stored: a repeat checks all items again, with the rules, time and bounds
 * of the first request. The fields are:
 *
 *   32 bytes  hash of the idempotency key.
 *   32 bytes  hash of the request's body.
 *   varint    number of accepted readings in a batch; 0: the request was a single reading.
 *   then, for a batch:
 *     varint    number of refused items; 0: nothing follows.
 *     varint    version of the rules for items (`judgementRules`) at the first request.
 *     varint    time at which the items were refused, in ms.
 *     3 varints the cellar's bounds at that time, in ms plus 1; 0: no bound. They are the highest age of a timestamp,
 *               how far a timestamp may be ahead of the clock, and how long readings are kept.
 */
import type { ByteReader, ByteWriter } from '../../bytes/bytes.ts'
import type { Idempotency, Judgement } from '../../domain/reading/idempotency-key.ts'

const hashBytes = 32

export const writeIdempotency = (writer: ByteWriter, { keyHash, bodyHash, batch }: Idempotency): void => {
  writer.bytes(hashBytesOf(keyHash))
  writer.bytes(hashBytesOf(bodyHash))
  writer.varint(batch?.accepted ?? 0)
  if (batch === null) return
  if (batch.refusals === null) writer.varint(0)
  else writeRefusals(writer, batch.refusals)
}

const writeRefusals = (writer: ByteWriter, { rejected, rules, atMs, bounds }: Judgement): void => {
  for (const number of [rejected, rules, atMs]) writer.varint(number)
  for (const bound of [bounds.readingAgeMsMax, bounds.readingAheadMsMax, bounds.retentionMs]) {
    writer.varint(bound === null ? 0 : bound + 1)
  }
}

/** @throws RangeError for bytes that are not idempotency data */
export const readIdempotency = (reader: ByteReader): Idempotency => {
  const [keyHash, bodyHash] = [readHash(reader), readHash(reader)]
  const accepted = reader.varint()
  return { keyHash, bodyHash, batch: accepted === 0 ? null : { accepted, refusals: readRefusals(reader) } }
}

const readRefusals = (reader: ByteReader): Judgement | null => {
  const rejected = reader.varint()
  if (rejected === 0) return null
  const [rules, atMs] = [reader.varint(), reader.varint()]
  const bounds = {
    readingAgeMsMax: readBound(reader),
    readingAheadMsMax: readBound(reader),
    retentionMs: readBound(reader),
  }
  return { rejected, rules, atMs, bounds }
}

const readBound = (reader: ByteReader): number | null => {
  const number = reader.varint()
  return number === 0 ? null : number - 1
}

export const hashBytesOf = (hex: string): Uint8Array => {
  const bytes = Uint8Array.fromHex(hex)
  if (bytes.length !== hashBytes) throw new Error(`Cannot store a hash of ${bytes.length} bytes: it has ${hashBytes}`)
  return bytes
}

const readHash = (reader: ByteReader): string => {
  const from = reader.skip(hashBytes)
  return reader.bytes.subarray(from, from + hashBytes).toHex()
}

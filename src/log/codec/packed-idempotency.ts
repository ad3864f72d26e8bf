/**
 * What a request's `Idempotency-Key` needs, behind the first reading that it stored:
 *
 *   32 bytes  hash of the key
 *   32 bytes  hash of the body
 *   varint    how many readings of a batch were accepted; 0: a single reading
 *   text      of a batch: its refused items as JSON; empty if there are none
 */
import { Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import type { ByteReader, ByteWriter } from '../../bytes/bytes.ts'
import { readText, writeText } from '../../bytes/packed-text.ts'
import type { Idempotency } from '../../domain/idempotency.ts'
import { KeptItem } from '../../domain/rejected-item.ts'

const hashBytes = 32
const keptItemsCheck = TypeCompiler.Compile(Type.Array(KeptItem))

export const writeIdempotency = (writer: ByteWriter, { keyHash, bodyHash, batch }: Idempotency): void => {
  writer.bytes(hashBytesOf(keyHash))
  writer.bytes(hashBytesOf(bodyHash))
  writer.varint(batch?.accepted ?? 0)
  if (batch !== null) writeText(writer, batch.rejected.length === 0 ? '' : JSON.stringify(batch.rejected))
}

/** @throws RangeError if the bytes are no such thing. */
export const readIdempotency = (reader: ByteReader): Idempotency => {
  const keyHash = readHash(reader)
  const bodyHash = readHash(reader)
  const accepted = reader.varint()
  return { keyHash, bodyHash, batch: accepted === 0 ? null : { accepted, rejected: keptItems(readText(reader)) } }
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

const keptItems = (json: string): KeptItem[] => {
  if (json === '') return []
  let items: unknown
  try {
    items = JSON.parse(json)
  } catch (cause) {
    throw new RangeError('refused items in it are not JSON', { cause })
  }
  if (keptItemsCheck.Check(items)) return items
  throw new RangeError('refused items in it are not as their schema says')
}

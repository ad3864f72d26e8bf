/**
 * Writes data as the first version of the service did, to prove that this version can still read it. The first version
 * stored a verdict for each refused item of a batch.
 */
import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { ByteWriter } from '../../../src/bytes/bytes.ts'
import { writeText } from '../../../src/bytes/packed-text.ts'
import type { NewEvent } from '../../../src/domain/events.ts'
import type { Idempotency, KeptItem } from '../../../src/domain/reading/idempotency-key.ts'
import { createCodec } from '../../../src/log/codec/codec.ts'
import { appendPlainRow } from './plain-rows.ts'

export type FirstVersionBatch = {
  readonly stream: string
  readonly readings: readonly NewEvent<'ReadingAccepted'>[]
  readonly keyHash: string
  readonly bodyHash: string
  readonly rejected: readonly KeptItem[]
}

/** Returns the idempotency data that this version must read from a batch of the first version. */
export const idempotencyOf = ({ readings, keyHash, bodyHash, rejected }: FirstVersionBatch): Idempotency => {
  const refusals = rejected.length === 0 ? null : { kind: 'verdicts' as const, items: [...rejected] }
  return { keyHash, bodyHash, batch: { accepted: readings.length, refusals } }
}

export const packedByFirstVersion = (batch: FirstVersionBatch): Uint8Array => {
  const { stream, readings, keyHash, bodyHash, rejected } = batch
  const withoutRefusals = idempotencyOf({ ...batch, rejected: [] })
  const keyed = readings.map((event, index) =>
    index === 0 ? { ...event, metadata: { ...event.metadata, idempotency: withoutRefusals } } : event,
  )
  const [row] = createCodec().encode(stream, keyed)
  if (row === undefined || typeof row.body === 'string') throw new Error('readings are not packed')
  // In this version, idempotency data begins with format version 2, both hashes, the number of accepted readings, and 0
  // for no refusals. The lines below replace these bytes by those of the first version.
  const newForm = Buffer.from([2, ...Uint8Array.fromHex(keyHash + bodyHash), readings.length, 0])
  const at = Buffer.from(row.body).indexOf(newForm)
  if (at < 0) throw new Error('the form of this version is another than this test knows')
  const writer = new ByteWriter()
  writer.begin()
  writer.bytes(row.body.subarray(0, 2))
  writer.byte(((row.body[2] ?? 0) & ~64) | 32)
  writer.bytes(row.body.subarray(3, at))
  writer.bytes(newForm.subarray(1, -1))
  writeText(writer, rejected.length === 0 ? '' : JSON.stringify(rejected))
  writer.bytes(row.body.subarray(at + newForm.length))
  return writer.finish()
}

/** The log must be closed. The batch becomes the first event of a new stream. */
export const appendByFirstVersion = (dataDir: string, batch: FirstVersionBatch): void => {
  const database = new Database(join(dataDir, 'log.db'), { readwrite: true })
  const { stream, readings } = batch
  const row = { count: readings.length, recordedAt: readings[0]?.recordedAt ?? 0, body: packedByFirstVersion(batch) }
  appendPlainRow(database, stream, row)
  database.close()
}

import type { Idempotency } from '../../src/domain/reading/idempotency-key.ts'
import { ReadingRun, RecordedRun } from '../../src/domain/reading/recorded-run.ts'
import { readingsStream } from '../../src/domain/stream-names.ts'
import { columnsOf } from './logs/columns-of.ts'
import { reading } from './two-nodes.ts'

/** A run with two requests: a batch of three readings, and a single reading with an idempotency key. */
export const sampleRun = (keyId: string, at: { readonly revision: number; readonly position: number }): RecordedRun => {
  const batch = columnsOf([1, 2, 3].map((value) => ({ ...reading, value })))
  const run = new ReadingRun(keyId, Date.UTC(2026, 2, 1, 12), [
    { requestId: '00000000-0000-4000-8000-000000000ffe', readings: batch, idempotency: null },
    { requestId: '00000000-0000-4000-8000-000000001000', readings: reading, idempotency: sampleIdempotency },
  ])
  return new RecordedRun(run, { stream: readingsStream(keyId), ...at })
}

export const sampleIdempotency: Idempotency = { keyHash: 'a'.repeat(64), bodyHash: 'b'.repeat(64), batch: null }

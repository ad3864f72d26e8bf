import { refusalsOf } from '../../domain/reading/batch-repeat.ts'
import { encodedBytesExceed } from '../../domain/reading/columns.ts'
import { type JudgedBatch, judgeBatch, timelessItems } from '../../domain/reading/judge-batch.ts'
import type { NameCache } from '../../domain/reading/name-cache.ts'
import { done, type ReadingRefusal } from '../../domain/refusal.ts'
import type { ApiDeps } from './api-call.ts'
import { type IngestEndpoint, type IngestRoutes, ingestRoutes } from './checks-after-the-key.ts'
import { BatchParser } from './parse-batch.ts'

export const batchBodyBytesMax = 1024 * 1024
/** The most bytes that all events of a batch may take as JSON. EventStoreDB refuses an append over 1 MiB. */
export const batchEncodedBytesMax = 1_000_000

export const ingestBatch = (deps: ApiDeps, names: NameCache): IngestRoutes => {
  const { core, work } = deps
  const parser = new BatchParser(names)
  const judge: IngestEndpoint['judge'] = (body, { cellar, isIdempotent }) => {
    const parsed = parser.parse(body, cellar, work)
    if (!parsed.ok) return parsed
    const policy = core.projections.cellars.get(cellar)?.policy ?? null
    const context = { policy, now: core.clock.now() }
    const judged = judgeBatch(parsed.value, context)
    const { readings, rejected } = judged
    const repeat = isIdempotent
      ? {
          kept: { accepted: readings.count, refusals: refusalsOf(judged, context) },
          asked: timelessItems(parsed.value),
        }
      : null
    // `judgeBatch` has copied these readings.
    if (readings !== parsed.value.readings) parsed.value.readings.giveBack()
    return done({ readings, refusal: batchRefusal(judged, context.now), batch: { rejected, repeat } })
  }
  return ingestRoutes({ ...deps, what: 'batch', bytesMax: batchBodyBytesMax, judge })
}

const batchRefusal = ({ readings, rejected }: JudgedBatch, atMs: number): ReadingRefusal | null => {
  if (readings.count === 0) return { kind: 'batch_rejected', rejected, atMs }
  if (!encodedBytesExceed(readings, batchEncodedBytesMax)) return null
  return { kind: 'payload_too_large', what: 'events', bytesMax: batchEncodedBytesMax }
}

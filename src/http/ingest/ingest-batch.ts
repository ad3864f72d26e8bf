import { judgeBatch, parseBatch } from '../../domain/batch.ts'
import { encodedBytesExceed } from '../../domain/reading-size.ts'
import { done, refused } from '../../domain/refusal.ts'
import { batchBodyBytesMax, batchEncodedBytesMax } from '../../limits.ts'
import type { ApiDeps, ApiRoute } from './api.ts'
import { ingestRoute } from './ingest-route.ts'

const bound = { what: 'batch', bytesMax: batchBodyBytesMax } as const

/**
 * `POST /api/v1/ingest/batch`, after the key: each reading is judged alone, and the valid ones are stored all or none
 * (decisions, "Many readings"). Whatever is transient refuses the whole, so that an item's error is always for good.
 */
export const ingestBatch = (deps: ApiDeps): ApiRoute => {
  const { core } = deps
  return ingestRoute(deps, bound, ({ requestId, key }, json) => {
    const items = parseBatch(json)
    if (!items.ok) return items
    const now = core.clock.now()
    const policy = core.projections.cellars.get(key.cellar)?.policy ?? null
    const { readings, rejected } = judgeBatch(items.value, { cellar: key.cellar, policy, now })
    if (readings.length === 0) return refused({ kind: 'batch_rejected', rejected, atMs: now })
    if (encodedBytesExceed(readings, batchEncodedBytesMax)) {
      return refused({ kind: 'payload_too_large', what: 'events', bytesMax: batchEncodedBytesMax })
    }
    return core.keys
      .accept(key.keyId, readings, requestId)
      .then((answer) => (answer.ok ? done({ accepted: answer.value, rejected }) : answer))
  })
}

import type { Accepted } from '../../actors/core.ts'
import { judgeBatch, parseBatch } from '../../domain/batch.ts'
import type { KeyState } from '../../domain/key.ts'
import type { Reading } from '../../domain/reading.ts'
import { encodedBytesExceed } from '../../domain/reading-size.ts'
import { done, type ReadingRefusal, type RejectedItem, refused } from '../../domain/refusal.ts'
import { keepItem, restoreItem } from '../../domain/rejected-item.ts'
import { batchBodyBytesMax, batchEncodedBytesMax } from '../../limits.ts'
import type { ApiDeps, ApiRoute } from './api.ts'
import type { AcceptedBatch } from './batch-body.ts'
import { acceptKeyed, ingestRoute } from './ingest-route.ts'

const bound = { what: 'batch', bytesMax: batchBodyBytesMax } as const

/**
 * `POST /api/v1/ingest/batch`, after the key: each reading is judged alone, and the valid ones are stored all or none
 * (decisions, "Many readings"). Whatever is transient refuses the whole, so that an item's error is always for good.
 */
export const ingestBatch = (deps: ApiDeps): ApiRoute => {
  const { core } = deps
  return ingestRoute(deps, bound, (visit, json, keyed) => {
    const { requestId, key } = visit
    const items = parseBatch(json)
    if (!items.ok) return items
    const now = core.clock.now()
    const policy = core.projections.cellars.get(key.cellar)?.policy ?? null
    const { readings, rejected } = judgeBatch(items.value, { cellar: key.cellar, policy, now })
    const refusal = batchRefusal(readings, rejected, now)
    if (keyed !== null) {
      const { keyHash, bodyHash } = keyed
      const batch = { accepted: readings.length, rejected: rejected.map(keepItem) }
      const idempotency = { keyHash, bodyHash, batch }
      return acceptKeyed(deps, visit, { readings, idempotency, refusal: keyed.refusal ?? refusal }).then((answer) =>
        answer.ok ? done(asThen(answer.value, rejected, key)) : answer,
      )
    }
    if (refusal !== null) return refused(refusal)
    return core.keys
      .accept(key.keyId, readings, requestId)
      .then((answer) => (answer.ok ? done({ accepted: answer.value, rejected }) : answer))
  })
}

const batchRefusal = (
  readings: readonly Reading[],
  rejected: readonly RejectedItem[],
  atMs: number,
): ReadingRefusal | null => {
  if (readings.length === 0) return { kind: 'batch_rejected', rejected, atMs }
  if (!encodedBytesExceed(readings, batchEncodedBytesMax)) return null
  return { kind: 'payload_too_large', what: 'events', bytesMax: batchEncodedBytesMax }
}

/** A repeat tells what was refused of the first, whatever would be now. */
const asThen = (accepted: Accepted, rejected: readonly RejectedItem[], { cellar }: KeyState): AcceptedBatch => {
  const kept = accepted.repeats?.batch?.rejected
  return { accepted, rejected: kept === undefined ? rejected : kept.map((item) => restoreItem(item, cellar)) }
}

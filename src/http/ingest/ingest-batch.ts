import type { Accepted } from '../../actors/core.ts'
import { type RepeatedBatch, refusalsOf, rejectedThen, timelessItems } from '../../domain/reading/batch-repeat.ts'
import {
  type BatchPlace,
  judgeBatch,
  judgeItems,
  type ParsedItem,
  parseBatch,
  parseItems,
} from '../../domain/reading/judge-batch.ts'
import type { Reading } from '../../domain/reading/reading.ts'
import { encodedBytesExceed } from '../../domain/reading/reading-size.ts'
import { done, type Outcome, type ReadingRefusal, type RejectedItem, refused } from '../../domain/refusal.ts'
import { batchBodyBytesMax, batchEncodedBytesMax } from '../../limits.ts'
import type { ApiDeps, ApiResult, ApiRoute, Visit } from './api.ts'
import type { AcceptedBatch } from './batch-body.ts'
import { acceptKeyed, ingestRoute, type Keyed } from './ingest-route.ts'

const bound = { what: 'batch', bytesMax: batchBodyBytesMax } as const

/**
 * `POST /api/v1/ingest/batch`, after the key: each reading is judged alone, and the valid ones are stored all or none
 * (docs/contract.md, "Many readings"). Whatever is transient refuses the whole, so that an item's error is always for good.
 */
export const ingestBatch = (deps: ApiDeps): ApiRoute => {
  const { core } = deps
  const judgeKeyed = judgeKeyedBatch(deps)
  return ingestRoute(deps, bound, (visit, json, keyed) => {
    const { requestId, key } = visit
    const items = parseBatch(json)
    if (!items.ok) return items
    const policy = core.projections.cellars.get(key.cellar)?.policy ?? null
    const place = { cellar: key.cellar, policy, now: core.clock.now() }
    if (keyed !== null) return judgeKeyed(visit, keyed, { items: parseItems(items.value, key.cellar), place })
    const { readings, rejected } = judgeBatch(items.value, place)
    const refusal = batchRefusal(readings, rejected, place.now)
    if (refusal !== null) return refused(refusal)
    return core.keys
      .accept(key.keyId, readings, requestId)
      .then((answer) => (answer.ok ? done({ accepted: answer.value, rejected }) : answer))
  })
}

type KeyedBatch = { readonly items: readonly ParsedItem[]; readonly place: BatchPlace }

/** With an `Idempotency-Key`: a repeat is told what the first one was told, whatever would be refused now. */
const judgeKeyedBatch =
  (deps: ApiDeps) =>
  (visit: Visit, keyed: Keyed, { items, place }: KeyedBatch): Promise<ApiResult> => {
    const judged = judgeItems(items, place)
    const { readings, rejected } = judged
    const { keyHash, bodyHash } = keyed
    const batch = { accepted: readings.length, refusals: refusalsOf(judged, place) }
    const idempotency = { keyHash, bodyHash, batch }
    const refusal = keyed.refusal ?? batchRefusal(readings, rejected, place.now)
    // What waits for the answer must not hold the items: see `timelessItems`.
    const asked = { items: timelessItems(items), cellar: place.cellar }
    return acceptKeyed(deps, visit, { readings, idempotency, refusal }).then((answer) =>
      answer.ok ? acceptedOrRepeated(answer.value, rejected, asked) : answer,
    )
  }

const acceptedOrRepeated = (
  accepted: Accepted,
  rejected: readonly RejectedItem[],
  asked: RepeatedBatch,
): Outcome<AcceptedBatch, ReadingRefusal> => {
  if (accepted.repeats === null) return done({ accepted, rejected })
  const then = rejectedThen(accepted.repeats.batch?.refusals ?? null, asked)
  return then.ok ? done({ accepted, rejected: then.value }) : then
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

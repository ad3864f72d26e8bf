import type { Accepted } from '../../actors/core.ts'
import { type RepeatedBatch, refusalsOf, rejectedThen } from '../../domain/reading/batch-repeat.ts'
import { encodedBytesExceed, type ReadingColumns } from '../../domain/reading/columns.ts'
import { type BatchContext, judgeBatch, type ParsedBatch, timelessItems } from '../../domain/reading/judge-batch.ts'
import { done, type Outcome, type ReadingRefusal, type RejectedItem, refused } from '../../domain/refusal.ts'
import { batchBodyBytesMax, batchEncodedBytesMax } from '../../limits.ts'
import type { AcceptedBatch, ApiCall, ApiDeps, ApiRoute, Judged } from './api-call.ts'
import { ingestRoute, type JudgeAndStore, type PossibleRepeat, storeUnlessRepeat } from './order-of-checks.ts'
import { BatchParser } from './parse-batch.ts'

/** `POST /api/v1/ingest/batch`. Stores either all valid readings of the batch or none (docs/contract.md, "Many readings"). */
export const ingestBatch = (deps: ApiDeps): ApiRoute =>
  ingestRoute({ ...deps, what: 'batch', bytesMax: batchBodyBytesMax, judgeAndStore: judgeReadings(deps) })

const judgeReadings = (deps: ApiDeps): JudgeAndStore => {
  const { core, work } = deps
  const parser = new BatchParser()
  return (call, body, repeat) => {
    const { requestId, key } = call
    const parsed = parser.parse(body, key.cellar, work)
    if (!parsed.ok) return parsed
    const policy = core.projections.cellars.get(key.cellar)?.policy ?? null
    const context = { policy, now: core.clock.now() }
    if (repeat !== null) return judgePossibleRepeat(deps, call, { repeat, parsed: parsed.value, context })
    const { readings, rejected } = judgeBatch(parsed.value, context)
    const refusal = batchRefusal(readings, rejected, context.now)
    if (refusal !== null) return refused(refusal)
    return core.keys
      .accept(key.keyId, readings, requestId)
      .then((answer) => (answer.ok ? done({ accepted: answer.value, rejected }) : answer))
  }
}

type PossiblyRepeatedBatch = {
  readonly repeat: PossibleRepeat
  readonly parsed: ParsedBatch
  readonly context: BatchContext
}

/**
 * Judges a batch that may be a repeat. A repeat gets its first answer, even if its readings would be refused now, for instance
 * because they are too old. So `refusal` goes to the key's actor, which answers with it only if the request is not a repeat.
 */
const judgePossibleRepeat = (
  deps: ApiDeps,
  call: ApiCall,
  { repeat, parsed, context }: PossiblyRepeatedBatch,
): Promise<Judged> => {
  const judged = judgeBatch(parsed, context)
  const { readings, rejected } = judged
  const { keyHash, bodyHash } = repeat
  const batch = { accepted: readings.count, refusals: refusalsOf(judged, context) }
  const idempotency = { keyHash, bodyHash, batch }
  const refusal = repeat.refusal ?? batchRefusal(readings, rejected, context.now)
  // The callback of `then` uses `asked`, because `parsed` would keep up to 1 MiB in memory while the request waits.
  const asked = { items: timelessItems(parsed), cellar: call.key.cellar }
  return storeUnlessRepeat(deps, call, { readings, idempotency, refusal }).then((answer) =>
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
  readings: ReadingColumns,
  rejected: readonly RejectedItem[],
  atMs: number,
): ReadingRefusal | null => {
  if (readings.count === 0) return { kind: 'batch_rejected', rejected, atMs }
  if (!encodedBytesExceed(readings, batchEncodedBytesMax)) return null
  return { kind: 'payload_too_large', what: 'events', bytesMax: batchEncodedBytesMax }
}

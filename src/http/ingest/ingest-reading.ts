import { cellarRefusal, parseReading, policyRefusal } from '../../domain/reading/reading.ts'
import { refused } from '../../domain/refusal.ts'
import { readingBodyBytesMax } from '../../limits.ts'
import type { ApiDeps, ApiRoute } from './api-call.ts'
import { ingestRoute, type JudgeAndStore, storeUnlessRepeat } from './order-of-checks.ts'
import { parseJson } from './parse-json.ts'

/** `POST /api/v1/ingest`. */
export const ingestReading = (deps: ApiDeps): ApiRoute =>
  ingestRoute({ ...deps, what: 'reading', bytesMax: readingBodyBytesMax, judgeAndStore: judgeReading(deps) })

const judgeReading = (deps: ApiDeps): JudgeAndStore => {
  const { core, work } = deps
  return (call, body, repeat) => {
    const { requestId, key } = call
    const json = parseJson(body, 'reading', work)
    const parsed = json.ok ? parseReading(json.value) : json
    if (!parsed.ok) return parsed
    const { reading, timestampMs } = parsed.value
    const mismatch = cellarRefusal(reading, key.cellar)
    if (mismatch !== null) return refused(mismatch)
    const cellar = core.projections.cellars.get(key.cellar)
    const refusal = cellar === null ? null : policyRefusal(timestampMs, cellar.policy, core.clock.now())
    if (repeat !== null) {
      const { keyHash, bodyHash } = repeat
      const idempotency = { keyHash, bodyHash, batch: null }
      return storeUnlessRepeat(deps, call, { readings: reading, idempotency, refusal: repeat.refusal ?? refusal })
    }
    return refusal === null ? core.keys.accept(key.keyId, reading, requestId) : refused(refusal)
  }
}

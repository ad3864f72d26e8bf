import { cellarRefusal, parseReading, policyRefusal } from '../../domain/reading/reading.ts'
import { refused } from '../../domain/refusal.ts'
import { readingBodyBytesMax } from '../../limits.ts'
import type { ApiDeps, ApiRoute } from './api.ts'
import { acceptKeyed, ingestRoute } from './ingest-route.ts'

const bound = { what: 'reading', bytesMax: readingBodyBytesMax } as const

/** `POST /api/v1/ingest`, after the key: the body is one reading. */
export const ingestReading = (deps: ApiDeps): ApiRoute => {
  const { core } = deps
  return ingestRoute(deps, bound, (visit, json, keyed) => {
    const { requestId, key } = visit
    const parsed = parseReading(json)
    if (!parsed.ok) return parsed
    const { reading, timestampMs } = parsed.value
    const mismatch = cellarRefusal(reading, key.cellar)
    if (mismatch !== null) return refused(mismatch)
    const cellar = core.projections.cellars.get(key.cellar)
    const refusal = cellar === null ? null : policyRefusal(timestampMs, cellar.policy, core.clock.now())
    if (keyed !== null) {
      const { keyHash, bodyHash } = keyed
      const idempotency = { keyHash, bodyHash, batch: null }
      return acceptKeyed(deps, visit, { readings: reading, idempotency, refusal: keyed.refusal ?? refusal })
    }
    return refusal === null ? core.keys.accept(key.keyId, reading, requestId) : refused(refusal)
  })
}

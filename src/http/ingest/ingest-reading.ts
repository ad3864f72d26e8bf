import { cellarRefusal, parseReading, policyRefusal } from '../../domain/reading/reading.ts'
import { done, refused } from '../../domain/refusal.ts'
import { readingBodyBytesMax } from '../../limits.ts'
import type { ApiDeps, ApiRoute } from './api-call.ts'
import { type IngestEndpoint, ingestRoute } from './order-of-checks.ts'
import { parseJson } from './parse-json.ts'

/** `POST /api/v1/ingest`. */
export const ingestReading = (deps: ApiDeps): ApiRoute => {
  const { core, work } = deps
  const judge: IngestEndpoint['judge'] = (body, { cellar }) => {
    const json = parseJson(body, 'reading', work)
    const parsed = json.ok ? parseReading(json.value) : json
    if (!parsed.ok) return parsed
    const { reading, timestampMs } = parsed.value
    const mismatch = cellarRefusal(reading, cellar)
    if (mismatch !== null) return refused(mismatch)
    const policy = core.projections.cellars.get(cellar)?.policy ?? null
    const refusal = policy === null ? null : policyRefusal(timestampMs, policy, core.clock.now())
    return done({ readings: reading, refusal, batch: null })
  }
  return ingestRoute({ ...deps, what: 'reading', bytesMax: readingBodyBytesMax, judge })
}

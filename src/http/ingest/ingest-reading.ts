import type { NameCache } from '../../domain/reading/name-cache.ts'
import { policyRefusal } from '../../domain/reading/timestamp-policy.ts'
import { done } from '../../domain/refusal.ts'
import { readingBodyBytesMax } from '../http-bounds.ts'
import type { ApiDeps } from './api-call.ts'
import { type IngestEndpoint, type IngestRoutes, ingestRoutes } from './checks-after-the-key.ts'
import { ReadingParser } from './parse-reading.ts'

export const ingestReading = (deps: ApiDeps, names: NameCache): IngestRoutes => {
  const { core, work } = deps
  const parser = new ReadingParser(names)
  const judge: IngestEndpoint['judge'] = (body, { cellar }) => {
    const parsed = parser.parse(body, cellar, work)
    if (!parsed.ok) return parsed
    const { reading, timestampMs } = parsed.value
    const policy = core.projections.cellars.get(cellar)?.policy ?? null
    const refusal = policy === null ? null : policyRefusal(timestampMs, policy, core.clock.now())
    return done({ readings: reading, refusal, batch: null })
  }
  return ingestRoutes({ ...deps, what: 'reading', bytesMax: readingBodyBytesMax, judge })
}

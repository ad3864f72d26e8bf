import type { Core, Usage } from '../../actors/core.ts'
import type { KeyState } from '../../domain/key.ts'
import { type ParsedReading, parseReading, policyRefusal } from '../../domain/reading.ts'
import { type ReadingRefusal, refused } from '../../domain/refusal.ts'
import { readingBodyBytesMax } from '../../limits.ts'
import { type BodyFault, readBody } from '../bounded-body.ts'
import type { ApiResult, ApiRoute, Visit } from './api.ts'
import { mediaTypeRefusal } from './media-type.ts'
import { parseJson } from './parse-json.ts'
import type { RefusalWindows } from './refusal-windows.ts'

/**
 * `POST /api/v1/ingest`, after the key: rate limit (a look), content type, size, JSON, fields, cellar; then the key's actor,
 * which reserves a place in the window and judges the key once more when it appends (decisions, "One order of checks").
 */
export const ingestReading = (core: Core, refusalWindows: RefusalWindows): ApiRoute => {
  const look = (visit: Visit, usage: Usage | null): ApiResult | Promise<ApiResult> => {
    const { request, key } = visit
    if (usage === null) return refused({ kind: 'store_unavailable' })
    const early =
      windowRefusal(usage) ??
      refusalWindows.refusal(key.keyId, usage.limit, core.clock.now()) ??
      mediaTypeRefusal(request.headers)
    if (early !== null) return refused(early)
    return readBody(request, readingBodyBytesMax).then((body) => judge(visit, body))
  }

  const judge = ({ requestId, key }: Visit, body: Uint8Array | BodyFault): ApiResult | Promise<ApiResult> => {
    if (body === 'client_gone') return body
    if (body === 'too_large') return refused({ kind: 'payload_too_large', bytesMax: readingBodyBytesMax })
    const json = parseJson(body)
    if (!json.ok) return json
    const parsed = parseReading(json.value)
    if (!parsed.ok) return parsed
    const refusal = cellarRefusal(core, key, parsed.value)
    return refusal === null ? core.keys.accept(key.keyId, parsed.value.reading, requestId) : refused(refusal)
  }

  return (visit) => {
    const usage = core.keys.usage(visit.key.keyId)
    return usage instanceof Promise ? usage.then((known) => look(visit, known)) : look(visit, usage)
  }
}

const windowRefusal = ({ limit, used, retryAfterMs }: Usage): ReadingRefusal | null =>
  used < limit.readings ? null : { kind: 'rate_limited', limit, retryAfterMs, window: 'readings' }

/** The cellar must be the key's own; only then do that cellar's bounds concern the reading. */
const cellarRefusal = (core: Core, key: KeyState, { reading, timestampMs }: ParsedReading): ReadingRefusal | null => {
  if (reading.cellar !== key.cellar) return { kind: 'cellar_mismatch', cellar: key.cellar }
  const cellar = core.projections.cellars.get(key.cellar)
  return cellar === null ? null : policyRefusal(timestampMs, cellar.policy, core.clock.now())
}

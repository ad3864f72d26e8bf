import type { Core, Usage } from '../../actors/core.ts'
import type { KeyState } from '../../domain/key.ts'
import { type ParsedReading, parseReading, policyRefusal } from '../../domain/reading.ts'
import { type ReadingRefusal, refused } from '../../domain/refusal.ts'
import { readingBodyBytesMax } from '../../limits.ts'
import { readBody } from '../bounded-body.ts'
import type { ApiResult, ApiRoute } from './api.ts'
import { mediaTypeRefusal } from './media-type.ts'
import { parseJson } from './parse-json.ts'
import type { RefusalWindows } from './refusal-windows.ts'

/**
 * `POST /api/v1/ingest`, after the key: rate limit (a look), content type, size, JSON, fields, cellar; then the key's actor,
 * which reserves a place in the window and judges the key once more when it appends (decisions, "One order of checks").
 */
export const ingestReading =
  (core: Core, refusalWindows: RefusalWindows): ApiRoute =>
  async ({ request, requestId, key }): Promise<ApiResult> => {
    const looked = core.keys.usage(key.keyId)
    const usage = looked instanceof Promise ? await looked : looked
    if (usage === null) return refused({ kind: 'store_unavailable' })
    const early =
      windowRefusal(usage) ??
      refusalWindows.refusal(key.keyId, usage.limit, core.clock.now()) ??
      mediaTypeRefusal(request.headers)
    if (early !== null) return refused(early)

    const body = await readBody(request, readingBodyBytesMax)
    if (body === 'client_gone') return body
    if (body === 'too_large') return refused({ kind: 'payload_too_large', bytesMax: readingBodyBytesMax })
    const json = parseJson(body)
    if (!json.ok) return json
    const parsed = parseReading(json.value)
    if (!parsed.ok) return parsed
    const refusal = cellarRefusal(core, key, parsed.value)
    if (refusal !== null) return refused(refusal)
    // Awaited here: to be handed on, a promise takes two turns more.
    return await core.keys.accept(key.keyId, parsed.value.reading, requestId)
  }

const windowRefusal = ({ limit, used, retryAfterMs }: Usage): ReadingRefusal | null =>
  used < limit.readings ? null : { kind: 'rate_limited', limit, retryAfterMs, window: 'readings' }

/** The cellar must be the key's own; only then do that cellar's bounds concern the reading. */
const cellarRefusal = (core: Core, key: KeyState, { reading, timestampMs }: ParsedReading): ReadingRefusal | null => {
  if (reading.cellar !== key.cellar) return { kind: 'cellar_mismatch', cellar: key.cellar }
  const cellar = core.projections.cellars.get(key.cellar)
  return cellar === null ? null : policyRefusal(timestampMs, cellar.policy, core.clock.now())
}

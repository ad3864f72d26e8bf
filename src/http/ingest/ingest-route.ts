import type { Usage } from '../../actors/core.ts'
import { bodyHash, type Idempotency, idempotencyKeyHash } from '../../domain/idempotency.ts'
import type { ReadingRefusal } from '../../domain/refusal.ts'
import { refused } from '../../domain/refusal.ts'
import { type BodyFault, readBody } from '../bounded-body.ts'
import type { ApiDeps, ApiResult, ApiRoute, Visit } from './api.ts'
import { gunzip } from './gunzip.ts'
import { contentEncoding, mediaTypeRefusal } from './media-type.ts'
import { parseJson } from './parse-json.ts'

/** What a route takes, and how much of it. */
export type BodyBound = { readonly what: 'reading' | 'batch'; readonly bytesMax: number }

/** What a request with an `Idempotency-Key` brings to its judgement. */
export type Keyed = Pick<Idempotency, 'keyHash' | 'bodyHash'> & {
  /** The look at the window refuses it, unless it has stored something already: then it costs nothing. */
  readonly refusal: ReadingRefusal | null
}

/**
 * Judges the fields of a body that was parsed as JSON, and hands what is valid to the key's actor. With an
 * `Idempotency-Key` also what would be refused now, and may have been stored before: for its time, or its number.
 */
export type JudgeBody = (visit: Visit, json: unknown, keyed: Keyed | null) => ApiResult | Promise<ApiResult>

/**
 * What ingestion asks of every request after the key: rate limit (a look), content type, `Idempotency-Key`, size (as it was
 * sent, and unpacked), JSON; then `judge` asks for fields and cellar, and the key's actor reserves the places in the window
 * and judges the key once more when it appends (decisions, "One order of checks").
 */
export const ingestRoute = (deps: ApiDeps, bound: BodyBound, judge: JudgeBody): ApiRoute => {
  const { core, refusalWindows } = deps

  const look = (visit: Visit, usage: Usage | null): ApiResult | Promise<ApiResult> => {
    const { request, key } = visit
    if (usage === null) return refused({ kind: 'store_unavailable' })
    const keyText = request.headers.get('idempotency-key')
    if (keyText !== null) return lookKeyed(visit, keyText, usage)
    const early =
      windowRefusal(usage) ??
      refusalWindows.refusal(key.keyId, usage.limit, core.clock.now()) ??
      mediaTypeRefusal(request.headers)
    return early === null ? take(request, (body) => parse(visit, body, null)) : refused(early)
  }

  /**
   * With an `Idempotency-Key`. A full window is what the request is refused for, whatever else is wrong with it; but what has
   * been stored already costs nothing, and only the key's actor knows of that.
   */
  const lookKeyed = (visit: Visit, keyText: string, usage: Usage): ApiResult | Promise<ApiResult> => {
    const { request, key } = visit
    const full = windowRefusal(usage)
    const early = refusalWindows.refusal(key.keyId, usage.limit, core.clock.now()) ?? mediaTypeRefusal(request.headers)
    if (early !== null) return refused(full ?? early)
    const keyHash = idempotencyKeyHash(keyText)
    if (keyHash === null) return refused(full ?? { kind: 'invalid_idempotency_key' })
    const result = take(request, (body) => {
      const keyed = typeof body === 'string' ? null : { keyHash, bodyHash: bodyHash(body), refusal: full }
      return fullFirst(full, parse(visit, body, keyed))
    })
    return fullFirst(full, result)
  }

  /** Reads the body, and unpacks it. */
  const take = (request: Request, next: (body: Body) => ApiResult | Promise<ApiResult>) => {
    const encoding = contentEncoding(request.headers)
    if (encoding === 'unknown') {
      return refused<ReadingRefusal>({ kind: 'unsupported_media_type', what: 'content_encoding' })
    }
    const body = readBody(request, bound.bytesMax)
    return encoding === 'plain' ? body.then(next) : body.then((packed) => next(unpacked(packed, bound.bytesMax)))
  }

  const parse = (visit: Visit, body: Body, keyed: Keyed | null): ApiResult | Promise<ApiResult> => {
    if (body === 'client_gone') return body
    if (body === 'too_large') return refused({ kind: 'payload_too_large', ...bound })
    if (body === 'not_gzip') return refused({ kind: 'malformed_json', fault: 'not_gzip' })
    const json = parseJson(body)
    return json.ok ? judge(visit, json.value, keyed) : json
  }

  return (visit) => {
    const usage = core.keys.usage(visit.key.keyId)
    return usage instanceof Promise ? usage.then((known) => look(visit, known)) : look(visit, usage)
  }
}

type Body = Uint8Array | BodyFault | 'not_gzip'

const unpacked = (packed: Uint8Array | BodyFault, bytesMax: number): Body =>
  typeof packed === 'string' || packed.byteLength === 0 ? packed : gunzip(packed, bytesMax)

/** What was refused at once was so before the actor was asked, and comes after the look at the window. */
const fullFirst = (
  full: ReadingRefusal | null,
  result: ApiResult | Promise<ApiResult>,
): ApiResult | Promise<ApiResult> =>
  full === null || result instanceof Promise || result === 'client_gone' || result.ok ? result : refused(full)

const windowRefusal = ({ limit, used, retryAfterMs }: Usage): ReadingRefusal | null =>
  used < limit.readings ? null : { kind: 'rate_limited', limit, retryAfterMs, window: 'readings' }

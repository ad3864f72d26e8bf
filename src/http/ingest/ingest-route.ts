import type { Usage } from '../../actors/core.ts'
import type { ReadingRefusal } from '../../domain/refusal.ts'
import { refused } from '../../domain/refusal.ts'
import { type BodyFault, readBody } from '../bounded-body.ts'
import type { ApiDeps, ApiResult, ApiRoute, Visit } from './api.ts'
import { gunzip } from './gunzip.ts'
import { contentEncoding, mediaTypeRefusal } from './media-type.ts'
import { parseJson } from './parse-json.ts'

/** What a route takes, and how much of it. */
export type BodyBound = { readonly what: 'reading' | 'batch'; readonly bytesMax: number }

/** Judges the fields of a body that was parsed as JSON, and hands what is valid to the key's actor. */
export type JudgeBody = (visit: Visit, json: unknown) => ApiResult | Promise<ApiResult>

/**
 * What ingestion asks of every request after the key: rate limit (a look), content type, size (as it was sent, and
 * unpacked), JSON; then `judge` asks for
 * fields and cellar, and the key's actor reserves the places in the window and judges the key once more when it appends
 * (decisions, "One order of checks").
 */
export const ingestRoute = (deps: ApiDeps, bound: BodyBound, judge: JudgeBody): ApiRoute => {
  const { core, refusalWindows } = deps

  const look = (visit: Visit, usage: Usage | null): ApiResult | Promise<ApiResult> => {
    const { request, key } = visit
    if (usage === null) return refused({ kind: 'store_unavailable' })
    const early =
      windowRefusal(usage) ??
      refusalWindows.refusal(key.keyId, usage.limit, core.clock.now()) ??
      mediaTypeRefusal(request.headers)
    if (early !== null) return refused(early)
    const encoding = contentEncoding(request.headers)
    if (encoding === 'unknown') return refused({ kind: 'unsupported_media_type', what: 'content_encoding' })
    const body = readBody(request, bound.bytesMax)
    return encoding === 'plain'
      ? body.then((plain) => parse(visit, plain))
      : body.then((packed) => unpack(visit, packed))
  }

  const unpack = (visit: Visit, packed: Uint8Array | BodyFault): ApiResult | Promise<ApiResult> => {
    if (typeof packed === 'string' || packed.byteLength === 0) return parse(visit, packed)
    const body = gunzip(packed, bound.bytesMax)
    return body === 'not_gzip' ? refused({ kind: 'malformed_json', fault: 'not_gzip' }) : parse(visit, body)
  }

  const parse = (visit: Visit, body: Uint8Array | BodyFault): ApiResult | Promise<ApiResult> => {
    if (body === 'client_gone') return body
    if (body === 'too_large') return refused({ kind: 'payload_too_large', ...bound })
    const json = parseJson(body)
    return json.ok ? judge(visit, json.value) : json
  }

  return (visit) => {
    const usage = core.keys.usage(visit.key.keyId)
    return usage instanceof Promise ? usage.then((known) => look(visit, known)) : look(visit, usage)
  }
}

const windowRefusal = ({ limit, used, retryAfterMs }: Usage): ReadingRefusal | null =>
  used < limit.readings ? null : { kind: 'rate_limited', limit, retryAfterMs, window: 'readings' }

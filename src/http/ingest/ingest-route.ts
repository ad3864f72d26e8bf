import type { Accepted, KeyedRequest, Usage } from '../../actors/core.ts'
import { storageRefusal } from '../../actors/outage-refusals.ts'
import { bodyHash, type Idempotency, idempotencyKeyHash } from '../../domain/reading/idempotency-key.ts'
import type { Readings } from '../../domain/reading/reading.ts'
import { type Outcome, type ReadingRefusal, refused } from '../../domain/refusal.ts'
import { type BodyFault, readBody } from '../bounded-body.ts'
import { type ApiDeps, type ApiResult, type ApiRoute, costRefusal, type Visit } from './api.ts'
import { charge, costOfRefusal } from './charge.ts'
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
 * and judges the key once more when it appends (docs/contract.md, "One order of checks").
 */
export const ingestRoute = (deps: ApiDeps, bound: BodyBound, judge: JudgeBody): ApiRoute => {
  const { core, work } = deps

  const look = (visit: Visit, usage: Usage | null): ApiResult | Promise<ApiResult> => {
    const { headers } = visit.request
    if (usage === null) return refused({ kind: 'store_unavailable' })
    const full = windowRefusal(usage) ?? storageRefusal(core.log)
    const early = full ?? costRefusal(deps, visit.key) ?? mediaTypeRefusal(headers)
    const keyText = headers.get('idempotency-key')
    if (keyText !== null) return lookKeyed(visit, keyText, { full, early })
    return early === null ? take(visit, (body) => parse(visit, body, null)) : refused(early)
  }

  /**
   * With an `Idempotency-Key`. A request that was stored before is answered even if the window or the disk is full. So the
   * key's actor looks the hash up first, and an unknown one is refused before its body is read.
   */
  const lookKeyed = (visit: Visit, keyText: string, { full, early }: Early): ApiResult | Promise<ApiResult> => {
    const keyHash = idempotencyKeyHash(keyText)
    if (full === null) {
      if (early !== null) return refused(early)
      if (keyHash === null) return refused({ kind: 'invalid_idempotency_key' })
    } else if (keyHash === null || !mayRepeat(visit, keyHash)) return refused(full)
    const result = take(visit, (body) => {
      const keyed = typeof body === 'string' ? null : { keyHash, bodyHash: bodyHash(body), refusal: full }
      return fullFirst(full, parse(visit, body, keyed))
    })
    return fullFirst(full, result)
  }

  const mayRepeat = ({ request, key }: Visit, keyHash: string): boolean =>
    costRefusal(deps, key) === null &&
    mediaTypeRefusal(request.headers) === null &&
    core.keys.knowsIdempotencyKey(key.keyId, keyHash)

  /** Reads the body, and unpacks it. The budget may have run out while it was on its way. */
  const take = (visit: Visit, next: (body: Body) => ApiResult | Promise<ApiResult>) => {
    const { request, key } = visit
    const encoding = contentEncoding(request.headers)
    if (encoding === 'unknown') {
      return refused<ReadingRefusal>({ kind: 'unsupported_media_type', what: 'content_encoding' })
    }
    work.bodiesRead += 1
    const isPacked = encoding === 'gzip'
    const sender = { pool: 'devices', holder: key.keyId, bytesMax: bound.bytesMax, isPacked } as const
    return readBody(deps.bodies, request, sender).then((sent) => {
      const tooCostly = costRefusal(deps, key)
      if (tooCostly !== null) return refused(tooCostly)
      const body = isPacked ? unpacked(sent) : sent
      visit.bodyBytes = bytesOf(body, sent, request.headers)
      return next(body)
    })
  }

  const unpacked = (packed: Uint8Array | BodyFault): Body => {
    if (typeof packed === 'string' || packed.byteLength === 0) return packed
    work.bodiesUnpacked += 1
    return gunzip(packed, bound.bytesMax)
  }

  /** After a fault nobody knows how much was read or unpacked, so the largest possible number counts. */
  const bytesOf = (body: Body, sent: Uint8Array | BodyFault, headers: Headers): number => {
    if (typeof body !== 'string') return body.byteLength
    if (typeof sent !== 'string') return Math.min(bound.bytesMax, sent.byteLength * deflateRatioMax)
    return sent === 'too_large' && !headers.has('content-length') ? bound.bytesMax : 0
  }

  const parse = (visit: Visit, body: Body, keyed: Keyed | null): ApiResult | Promise<ApiResult> => {
    if (body === 'client_gone') return body
    if (body === 'too_large') return refused({ kind: 'payload_too_large', ...bound })
    if (body === 'overloaded') return refused({ kind: 'overloaded' })
    if (body === 'too_slow') return refused({ kind: 'request_timeout' })
    if (body === 'not_gzip') return refused({ kind: 'malformed_json', fault: 'not_gzip' })
    const json = parseJson(body, bound.what, work)
    return json.ok ? judge(visit, json.value, keyed) : json
  }

  return (visit) => {
    const usage = core.keys.usage(visit.key.keyId)
    return usage instanceof Promise ? usage.then((known) => look(visit, known)) : look(visit, usage)
  }
}

/** Deflate packs at most 258 bytes into 2 bits. */
const deflateRatioMax = 1_032

type Early = { readonly full: ReadingRefusal | null; readonly early: ReadingRefusal | null }

/** Stores the readings of a request with an `Idempotency-Key`, unless they were stored before. */
export const acceptKeyed = (
  deps: ApiDeps,
  visit: Visit,
  { readings, ...keyed }: Pick<KeyedRequest, 'idempotency' | 'refusal'> & { readonly readings: Readings },
): Promise<Outcome<Accepted, ReadingRefusal>> => {
  // It is refused or a repeat, and both are charged now: until the answer comes, other requests would cost nothing.
  if (keyed.refusal !== null) charge(deps, visit, costOfRefusal(keyed.refusal, visit))
  return deps.core.keys.acceptKeyed(visit.key.keyId, readings, { requestId: visit.requestId, ...keyed })
}

type Body = Uint8Array | BodyFault | 'not_gzip'

/**
 * A full window or disk comes before whatever is wrong with the body. But a body that did not come is told so: the answer
 * to a slow one closes its connection.
 */
const fullFirst = (
  full: ReadingRefusal | null,
  result: ApiResult | Promise<ApiResult>,
): ApiResult | Promise<ApiResult> => {
  if (full === null || result instanceof Promise || result === 'client_gone' || result.ok) return result
  return result.refusal.kind === 'request_timeout' ? result : refused(full)
}

const windowRefusal = ({ limit, used, retryAfterMs }: Usage): ReadingRefusal | null =>
  used < limit.readings ? null : { kind: 'rate_limited', limit, retryAfterMs, window: 'readings' }

import type { Accepted, IdempotentRequest, Usage } from '../../actors/core.ts'
import { storageRefusal } from '../../actors/outage-refusals.ts'
import type { Readings } from '../../domain/reading/columns.ts'
import { bodyHash, type Idempotency, idempotencyKeyHash } from '../../domain/reading/idempotency-key.ts'
import { assertNever, type Outcome, type ReadingRefusal, refused } from '../../domain/refusal.ts'
import { readBody } from '../read-body.ts'
import type { ApiCall, ApiDeps, ApiResult, ApiRoute, Judged } from './api-call.ts'
import { contentEncoding, contentTypeRefusal, failedBodyBytes, gunzip, type IngestBody } from './ingest-body.ts'
import { chargeOnce, costOfRefusal, emptyBudgetRefusal } from './request-costs.ts'

export type IngestEndpoint = ApiDeps & {
  readonly what: 'reading' | 'batch'
  readonly bytesMax: number
  readonly judgeAndStore: JudgeAndStore
}

/**
 * Parses the body, and checks the fields and the cellar of readings. Then the key's actor checks the key and its rate window,
 * and stores the readings.
 */
export type JudgeAndStore = (call: ApiCall, body: Uint8Array, repeat: PossibleRepeat | null) => Judged | Promise<Judged>

/**
 * A request with an idempotency key, which may be a repeat. If the rate window or the disk is full, `refusal` is the answer to
 * a request that is no repeat. Otherwise `refusal` is `null`.
 */
export type PossibleRepeat = Pick<Idempotency, 'keyHash' | 'bodyHash'> & { readonly refusal: ReadingRefusal | null }

/**
 * Runs all checks after those of the API key, the path and the method, in the order of docs/contract.md, "One order of checks".
 * The last step, `judgeAndStore`, is in `ingest-reading.ts` and in `ingest-batch.ts`.
 */
export const ingestRoute =
  (endpoint: IngestEndpoint): ApiRoute =>
  (call) => {
    const usage = endpoint.core.keys.usage(call.key.keyId)
    return usage instanceof Promise
      ? usage.then((known) => checkBeforeBody(endpoint, call, known))
      : checkBeforeBody(endpoint, call, usage)
  }

/** `usage` is the state of the key's rate window; `null` if the event store is unavailable. */
const checkBeforeBody = (
  endpoint: IngestEndpoint,
  call: ApiCall,
  usage: Usage | null,
): ApiResult | Promise<ApiResult> => {
  const { core } = endpoint
  const { key, request } = call
  if (usage === null) return refused({ kind: 'store_unavailable' })

  const full = windowRefusal(usage) ?? storageRefusal(core.log)
  const idempotencyKey = request.headers.get('idempotency-key')
  if (full !== null && idempotencyKey === null) return refused(full)

  const keyHash = idempotencyKey === null ? null : idempotencyKeyHash(idempotencyKey)
  const encoding = contentEncoding(request.headers)
  const refusal =
    emptyBudgetRefusal(endpoint, key) ??
    contentTypeRefusal(request.headers) ??
    (idempotencyKey !== null && keyHash === null ? invalidIdempotencyKey : null) ??
    (encoding === 'unknown' ? unknownEncoding : null)
  if (full !== null) {
    // A repeat gets its first answer even if the rate window or the disk is full. The body of any other request is not read.
    const isKnown = refusal === null && keyHash !== null && core.keys.knowsIdempotencyKey(key.keyId, keyHash)
    if (!isKnown) return refused(full)
  }
  if (refusal !== null) return refused(refusal)

  call.isPacked = encoding === 'gzip'
  return readAndJudge(endpoint, call, keyHash === null ? null : { keyHash, full })
}

const invalidIdempotencyKey: ReadingRefusal = { kind: 'invalid_idempotency_key' }
const unknownEncoding: ReadingRefusal = { kind: 'unsupported_media_type', what: 'content_encoding' }

const windowRefusal = ({ limit, used, retryAfterMs }: Usage): ReadingRefusal | null =>
  used < limit.readings ? null : { kind: 'rate_limited', limit, retryAfterMs, window: 'readings' }

type RepeatHeader = { readonly keyHash: string; readonly full: ReadingRefusal | null }

const readAndJudge = (endpoint: IngestEndpoint, call: ApiCall, header: RepeatHeader | null): Promise<ApiResult> => {
  const { work, bodies, bytesMax } = endpoint
  const { request, key, isPacked } = call
  work.bodiesRead += 1
  return readBody(bodies, request, { pool: 'devices', holder: key.keyId, bytesMax, isPacked }).then((sent) => {
    // Checked again, because other requests of the key can have used up its cost budget while this body arrived.
    const emptyBudget = emptyBudgetRefusal(endpoint, key)
    if (emptyBudget !== null) return refused(emptyBudget)

    const body = isPacked ? unpacked(endpoint, sent) : sent
    const isWhole = typeof body !== 'string'
    call.bodyBytes = isWhole ? body.byteLength : failedBodyBytes(sent, request.headers, bytesMax)
    const full = header?.full ?? null
    if (!isWhole) return body === 'client_gone' ? body : refused(bodyRefusal(endpoint, body, full))

    // The body must be hashed before `judgeAndStore`, which overwrites parts of the body.
    const repeat = header === null ? null : { keyHash: header.keyHash, bodyHash: bodyHash(body), refusal: full }
    const result = endpoint.judgeAndStore(call, body, repeat)
    return full === null || result instanceof Promise || result.ok ? result : refused(full)
  })
}

const unpacked = ({ work, bytesMax }: IngestEndpoint, sent: IngestBody): IngestBody => {
  if (typeof sent === 'string' || sent.byteLength === 0) return sent
  work.bodiesUnpacked += 1
  return gunzip(sent, bytesMax)
}

/**
 * A slow body always gets a 408, because only the 408 closes the connection. On an open connection, Bun would read the rest of
 * the body as the next request. A full rate window or disk is reported before all other faults.
 */
const bodyRefusal = (
  { what, bytesMax }: IngestEndpoint,
  fault: Exclude<IngestBody, Uint8Array | 'client_gone'>,
  full: ReadingRefusal | null,
): ReadingRefusal => {
  if (fault === 'too_slow') return { kind: 'request_timeout' }
  if (full !== null) return full
  switch (fault) {
    case 'too_large':
      return { kind: 'payload_too_large', what, bytesMax }
    case 'overloaded':
      return { kind: 'overloaded' }
    case 'not_gzip':
      return { kind: 'malformed_json', fault: 'not_gzip' }
    default:
      return assertNever(fault)
  }
}

export const storeUnlessRepeat = (
  deps: ApiDeps,
  call: ApiCall,
  { readings, ...request }: Pick<IdempotentRequest, 'idempotency' | 'refusal'> & { readonly readings: Readings },
): Promise<Outcome<Accepted, ReadingRefusal>> => {
  // Charges the cost budget before the actor answers. Otherwise many refused requests could run at the same time without cost.
  if (request.refusal !== null) chargeOnce(deps, call, costOfRefusal(request.refusal, call))
  return deps.core.keys.acceptIdempotent(call.key.keyId, readings, { requestId: call.requestId, ...request })
}

/**
 * The checks are in the order of docs/contract.md, "One order of checks". ARCHITECTURE.md, "Where the key is checked
 * again", names all places.
 */
import type { Usage } from '../../actors/core-interface.ts'
import { storageRefusal } from '../../actors/outage-refusals.ts'
import { rejectedThen } from '../../domain/reading/batch-repeat.ts'
import { countOf, isBatch, type Readings } from '../../domain/reading/columns.ts'
import { bodyHash, type Idempotency, idempotencyKeyHash } from '../../domain/reading/idempotency-key.ts'
import type { TimelessItem } from '../../domain/reading/judge-batch.ts'
import {
  assertNever,
  done,
  type Outcome,
  type ReadingRefusal,
  type RejectedItem,
  refused,
} from '../../domain/refusal.ts'
import { expectation } from '../expect-header.ts'
import { readAwaitedBody, readBody } from '../read-body.ts'
import type { ApiCall, ApiDeps, ApiResult, ApiRoute, Stored } from './api-call.ts'
import {
  contentEncoding,
  contentTypeRefusal,
  failedBodyBytes,
  gunzip,
  type IngestBody,
  lengthFault,
  tooSlow,
} from './ingest-body.ts'
import { chargeOnce, costOfCheck, costOfRefusal, emptyBudgetRefusal } from './request-costs.ts'

/**
 * Each 128 KiB of gzip can take 20 ms, even if it unpacks to a single reading. A thousand readings with a UUID for each
 * rack and keg take 65 to 100 KB.
 */
export const packedBodyBytesMax = 128 * 1024

export type IngestEndpoint = ApiDeps & {
  readonly what: 'reading' | 'batch'
  readonly bytesMax: number
  /** Can overwrite parts of the body. */
  readonly judge: (body: Uint8Array, of: BodyOrigin) => Outcome<JudgedBody, ReadingRefusal> | RefusedReading
}

type BodyOrigin = { readonly cellar: string; readonly isIdempotent: boolean }

type RefusedReading = { readonly ok: false; readonly refusal: ReadingRefusal; readonly names: ApiCall['names'] }

/** Has no parsed items, which would keep up to 1 MiB in memory until the commit. */
type JudgedBody = {
  readonly readings: Readings
  readonly refusal: ReadingRefusal | null
  readonly batch: JudgedItems | null
}

type JudgedItems = {
  readonly rejected: readonly RejectedItem[]
  /** With an idempotency key: what the log keeps of the batch, and what a repeat is answered from. */
  readonly repeat: { readonly kept: Idempotency['batch']; readonly asked: readonly TimelessItem[] } | null
}

export type IngestRoutes = { readonly store: ApiRoute; readonly check: ApiRoute }

export const ingestRoutes = (endpoint: IngestEndpoint): IngestRoutes => ({
  store: ingestRoute(endpoint, { isCheck: false }),
  check: ingestRoute(endpoint, { isCheck: true }),
})

const ingestRoute =
  (endpoint: IngestEndpoint, { isCheck }: { readonly isCheck: boolean }): ApiRoute =>
  async (call) => {
    const { core, work, bodies, bytesMax, judge } = endpoint
    const { key, request } = call

    const known = core.keys.usage(key.keyId)
    // `known` is almost never a promise. Awaiting a plain value would take a turn of the microtask queue for each reading.
    const usage = known instanceof Promise ? await known : known
    if (usage === null) return refused({ kind: 'store_unavailable' })
    const full = windowRefusal(usage) ?? storageRefusal(core.log)
    const idempotencyKey = isCheck ? null : request.headers.get('idempotency-key')
    const keyHash = idempotencyKey === null ? null : idempotencyKeyHash(idempotencyKey)
    const encoding = contentEncoding(request.headers)
    const expected = expectation(request.headers)
    const fault =
      emptyBudgetRefusal(endpoint, key) ??
      contentTypeRefusal(request.headers) ??
      (idempotencyKey !== null && keyHash === null ? invalidIdempotencyKey : null) ??
      (encoding === 'unknown' ? unknownEncoding : null) ??
      (expected === 'unknown' ? unknownExpectation : null)
    if (full !== null) {
      // A repeat gets its first answer even if the rate window or the disk is full.
      const isKnown = fault === null && keyHash !== null && core.keys.knowsIdempotencyKey(key.keyId, keyHash)
      if (!isKnown) return refused(full)
    }
    if (fault !== null) return refused(fault)

    const isPacked = encoding === 'gzip'
    work.bodiesRead += 1
    const sentBytesMax = isPacked ? Math.min(bytesMax, packedBodyBytesMax) : bytesMax
    const bound = { pool: 'devices', holder: key.keyId, bytesMax: sentBytesMax, isPacked } as const
    const sent = await (expected === 'awaited' ? readAwaitedBody : readBody)(bodies, request, bound)
    call.arrivedMs = performance.now()
    // These two come first, because only they close the connection. On an open one, Bun would read the rest of the body as
    // the next request.
    if (sent === 'too_slow') return refused(tooSlow(request.headers))
    if (sent === 'not_begun') return refused({ kind: 'expectation_failed', what: 'not_begun' })
    // The budget is checked again, because other requests can have used it up while this body arrived.
    const emptyBudget = emptyBudgetRefusal(endpoint, key)
    if (emptyBudget !== null) return refused(emptyBudget)
    const body = isPacked ? unpacked(endpoint, sent) : sent
    const isWhole = typeof body !== 'string'
    call.bodyBytes = isWhole ? body.byteLength : failedBodyBytes(sent, request.headers, bytesMax)
    if (isPacked && typeof sent !== 'string') call.packedBytes = sent.byteLength
    if (body === 'client_gone') return body
    if (sent === 'too_large' && sentBytesMax < bytesMax) return refused(full ?? packedTooLarge)
    if (!isWhole) return refused(bodyRefusal(endpoint, body, full))

    // The hash is made before `judge`, which overwrites parts of the body.
    const hashes = keyHash === null ? null : { keyHash, bodyHash: bodyHash(body) }
    const judged = judge(body, { cellar: key.cellar, isIdempotent: hashes !== null })
    if (!judged.ok) {
      if ('names' in judged) call.names = judged.names
      return refused(full ?? lengthFault(judged.refusal, request.headers))
    }
    const { readings, batch } = judged.value
    if (!isBatch(readings)) call.names = readings
    const refusal = full ?? judged.value.refusal
    if (hashes !== null) return storeUnlessRepeat(endpoint, call, { ...judged.value, refusal, hashes })
    if (refusal !== null) return refused(refusal)
    if (isCheck) return checkReadings(endpoint, call, judged.value)
    const answer = await core.keys.accept(key.keyId, readings, call.requestId)
    return answer.ok && batch !== null ? done({ accepted: answer.value, rejected: batch.rejected }) : answer
  }

const invalidIdempotencyKey: ReadingRefusal = { kind: 'invalid_idempotency_key' }
const unknownEncoding: ReadingRefusal = { kind: 'unsupported_media_type', what: 'content_encoding' }
const packedTooLarge: ReadingRefusal = { kind: 'payload_too_large', what: 'packed', bytesMax: packedBodyBytesMax }
const unknownExpectation: ReadingRefusal = { kind: 'expectation_failed', what: 'unknown' }

type BodyInTime = Exclude<IngestBody, 'too_slow'>

const windowRefusal = ({ limit, used, retryAfterMs }: Usage): ReadingRefusal | null =>
  used < limit.readings ? null : { kind: 'rate_limited', limit, retryAfterMs, window: 'readings' }

const unpacked = ({ work, bytesMax }: IngestEndpoint, sent: BodyInTime): BodyInTime => {
  if (typeof sent === 'string' || sent.byteLength === 0) return sent
  work.bodiesUnpacked += 1
  return gunzip(sent, bytesMax)
}

const bodyRefusal = (
  { what, bytesMax }: IngestEndpoint,
  fault: Exclude<IngestBody, Uint8Array | 'client_gone' | 'too_slow'>,
  full: ReadingRefusal | null,
): ReadingRefusal => {
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

/** Charges before the actor answers. Otherwise many checks could wait at the same time without cost. */
const checkReadings = async (deps: ApiDeps, call: ApiCall, { readings, batch }: JudgedBody): Promise<ApiResult> => {
  const rejected = batch?.rejected ?? null
  chargeOnce(deps, call, costOfCheck(rejected, call))
  const count = countOf(readings)
  if (isBatch(readings)) readings.giveBack()
  const answer = await deps.core.keys.check(call.key.keyId, count)
  return answer.ok ? done({ count, accepted: answer.value, rejected }) : answer
}

type PossibleRepeat = JudgedBody & { readonly hashes: Omit<Idempotency, 'batch'> }

/**
 * A repeat gets its first answer, even if its readings would be refused now. So the actor gets `refusal`, and answers with
 * it only if this is no repeat.
 */
const storeUnlessRepeat = async (
  deps: ApiDeps,
  call: ApiCall,
  { readings, refusal, batch, hashes }: PossibleRepeat,
): Promise<Stored> => {
  // Charges before the actor answers, as in `checkReadings`.
  if (refusal !== null) chargeOnce(deps, call, costOfRefusal(refusal, call))
  const repeat = batch?.repeat ?? null
  const idempotency = { ...hashes, batch: repeat?.kept ?? null }
  const request = { requestId: call.requestId, idempotency, refusal }
  const answer = await deps.core.keys.acceptIdempotent(call.key.keyId, readings, request)
  if (!answer.ok || batch === null) return answer
  const { repeats } = answer.value
  if (repeats === null || repeat === null) return done({ accepted: answer.value, rejected: batch.rejected })
  const then = rejectedThen(repeats.batch?.refusals ?? null, repeat.asked)
  return then.ok ? done({ accepted: answer.value, rejected: then.value }) : then
}

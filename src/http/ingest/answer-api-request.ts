import type { Accepted } from '../../actors/core-interface.ts'
import { thrownError } from '../../domain/error-message.ts'
import type { ItemRefusal, ReadingRefusal, RejectedItem } from '../../domain/refusal.ts'
import { codeOf, type Problem, problemOf, problemResponse } from '../problem.ts'
import { clientGoneStatus, countCode } from '../request-figures.ts'
import { traceContextOf } from '../trace-context.ts'
import { batchBody, checkBody, successBody } from './answer-bodies.ts'
import {
  type AnswerHeaders,
  acceptedHeaders,
  addKeyHeaders,
  keepAlive,
  plainHeaders,
  replayedHeader,
} from './answer-headers.ts'
import type { AcceptedBatch, ApiCall, ApiDeps, AskedRoute, CheckedReadings } from './api-call.ts'
import { authenticate } from './authenticate.ts'
import {
  chargeOnce,
  costOfBatch,
  costOfBrokenConnection,
  costOfPackedReading,
  costOfRefusal,
  costOfRepeat,
  emptyBudgetRefusal,
} from './request-costs.ts'

/** First checks the API key, whatever the path and the method. A bug causes a 500 for this request only. */
export const answerApiRequest = async (deps: ApiDeps, request: Request, asked: AskedRoute): Promise<Response> => {
  const { core, lines } = deps
  const nowMs = core.clock.now()
  const requestId = core.entropy.requestId(nowMs)
  let keyId: string | null = null
  try {
    const { key, refusal } = authenticate(core.projections.keys, request.headers, nowMs)
    keyId = key?.keyId ?? null
    if (key === null) return refuseKey(deps, { asked, request, requestId, key, names: null }, refusal)
    if (refusal !== null) return refuseKey(deps, { asked, request, requestId, key, names: null }, refusal)
    const call: ApiCall = {
      asked,
      request,
      requestId,
      key,
      arrivedMs: 0,
      bodyBytes: 0,
      packedBytes: 0,
      isCharged: false,
      names: null,
    }
    const result = await asked.route(call)
    if (result === 'client_gone') {
      countCode(asked.codes, clientGoneStatus)
      chargeOnce(deps, call, costOfBrokenConnection)
      // A client that closed the connection can still read this answer. A 500 does not tell it that the reading was stored.
      return problemResponse(problemOf(internalError), plainHeaders(requestId))
    }
    return result.ok ? accept(deps, call, result.value) : await refuse(deps, call, result.refusal)
  } catch (thrown) {
    countCode(asked.codes, 500)
    lines.error('request failed', { requestId, ...traceContextOf(request.headers), keyId, error: thrownError(thrown) })
    return problemResponse(problemOf(internalError), plainHeaders(requestId))
  }
}

const internalError: ReadingRefusal = { kind: 'internal_error' }

const accept = (deps: ApiDeps, call: ApiCall, result: Accepted | AcceptedBatch | CheckedReadings): Response => {
  if ('rejected' in result) {
    return 'count' in result ? answerCheck(deps, call, result) : acceptBatch(deps, call, result)
  }
  countCode(call.asked.codes, 200)
  if (result.repeats === null) noteStored(deps, call, 1)
  if (result.repeats !== null) chargeOnce(deps, call, costOfRepeat(call))
  else if (call.packedBytes > 0) chargeOnce(deps, call, costOfPackedReading(call))
  return new Response(successBody(result.recordedAt), { headers: acceptedHeaders(call.requestId, call.key, result) })
}

const acceptBatch = (deps: ApiDeps, call: ApiCall, batch: AcceptedBatch): Response => {
  const { stream, first, last, usage, repeats } = batch.accepted
  if (repeats === null) {
    noteStored(deps, call, last - first + 1)
    if (batch.rejected.length > 0) noteRejected(deps, call, batch.rejected)
  }
  chargeOnce(deps, call, repeats === null ? costOfBatch(batch, call) : costOfRepeat(call))
  const headers: AnswerHeaders = { ...plainHeaders(call.requestId), ...keepAlive }
  headers['X-Receipt'] = `${stream}@${first}-${last}`
  if (repeats !== null) headers[replayedHeader] = 'true'
  addKeyHeaders(headers, call.key, usage)
  const status = statusOfBatch(batch.rejected)
  countCode(call.asked.codes, status)
  return new Response(batchBody(batch, last - first + 1, 'stored'), { status, headers })
}

const noteStored = ({ requests }: ApiDeps, { arrivedMs }: ApiCall, readings: number): void =>
  requests.storeSeconds.observe((performance.now() - arrivedMs) / 1_000, readings)

const statusOfBatch = (rejected: readonly RejectedItem[]): number => (rejected.length === 0 ? 200 : 207)

/** No receipt, because nothing is in the log. */
const answerCheck = (deps: ApiDeps, call: ApiCall, { count, accepted, rejected }: CheckedReadings): Response => {
  deps.lastChecks.set(call.key.keyId, deps.core.clock.now())
  const headers: AnswerHeaders = { ...plainHeaders(call.requestId), ...keepAlive }
  addKeyHeaders(headers, call.key, accepted.usage)
  const status = statusOfBatch(rejected ?? [])
  countCode(call.asked.codes, status)
  if (rejected === null) return new Response(checkBody(accepted), { headers })
  const body = batchBody({ accepted, rejected }, count, 'would be stored')
  return new Response(body, { status, headers })
}

type RefusedCall = Pick<ApiCall, 'asked' | 'request' | 'requestId' | 'names'> & {
  readonly key: ApiCall['key'] | null
}

/** The answer has no headers about the key, and costs nothing of its budget. */
const refuseKey = (deps: ApiDeps, call: RefusedCall, refusal: ReadingRefusal): Response =>
  problemResponse(noteRefused(deps, call, refusal), plainHeaders(call.requestId))

const refuse = async (deps: ApiDeps, call: ApiCall, found: ReadingRefusal): Promise<Response> => {
  if (isKeyRefusal(found)) return refuseKey(deps, call, found)
  const { requestId, key } = call
  const refusal = (isOfNoRoute(found) ? emptyBudgetRefusal(deps, key) : null) ?? found
  const problem = noteRefused(deps, call, refusal)
  chargeOnce(deps, call, costOfRefusal(refusal, call))
  const headers = plainHeaders(requestId)
  const usage = await deps.core.keys.usage(key.keyId)
  addKeyHeaders(headers, key, usage ?? { limit: deps.core.projections.keys.effectiveLimit(key) })
  return problemResponse(problem, headers)
}

/** For the log, the log lines and the key's page. A refused batch also counts each of its readings by its code. */
const noteRefused = (deps: ApiDeps, call: RefusedCall, refusal: ReadingRefusal): Problem => {
  const { core, refusalLines, lastRefusals, addressOf, requests } = deps
  const { asked, request, requestId, key, names } = call
  const problem = problemOf(refusal)
  const { status, code } = problem
  const atMs = core.clock.now()
  const keyId = key?.keyId ?? null
  core.refusals.note({ keyId, requestId, atMs, code, refusal, names, count: 1 })
  if (refusal.kind === 'batch_rejected') noteRejected(deps, call, refusal.rejected)
  else if (asked.isStoring) requests.countRefused(code, 1)
  countCode(asked.codes, status)
  const who = keyId === null ? { keyId, address: addressOf(request) } : { keyId }
  refusalLines.note({ requestId, ...traceContextOf(request.headers), status, code, ...who })
  const isCost = refusal.kind === 'rate_limited' && refusal.window === 'cost'
  if (keyId !== null) lastRefusals.note(keyId, { atMs, code, isCost })
  return problem
}

/** Leaves out names, which only a single reading has at hand. */
const noteRejected = (
  { core, requests }: ApiDeps,
  { asked, requestId, key }: RefusedCall,
  rejected: readonly RejectedItem[],
): void => {
  const keyId = key?.keyId ?? null
  const counts = new Map<string, { readonly refusal: ItemRefusal; count: number }>()
  for (const { refusal } of rejected) {
    const known = counts.get(refusal.kind)
    if (known === undefined) counts.set(refusal.kind, { refusal, count: 1 })
    else known.count += 1
  }
  const atMs = core.clock.now()
  for (const { refusal, count } of counts.values()) {
    const code = codeOf(refusal.kind)
    core.refusals.note({ keyId, requestId, atMs, code, refusal, names: null, count })
    if (asked.isStoring) requests.countRefused(code, count)
  }
}

/** The request did not reach `checks-after-the-key.ts`, so `refuse` checks the key's cost budget. */
const isOfNoRoute = ({ kind }: ReadingRefusal): boolean => kind === 'not_found' || kind === 'method_not_allowed'

const isKeyRefusal = ({ kind }: ReadingRefusal): boolean =>
  kind === 'key_missing' || kind === 'key_invalid' || kind === 'key_expired'

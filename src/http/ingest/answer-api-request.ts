import type { Accepted, Usage } from '../../actors/core.ts'
import { thrownError } from '../../domain/error-message.ts'
import type { ReadingRefusal } from '../../domain/refusal.ts'
import { problemOf, problemResponse } from '../problem.ts'
import {
  acceptedHeaders,
  addKeyHeaders,
  batchBody,
  plainHeaders,
  replayedHeader,
  successBody,
} from './accepted-answers.ts'
import type { AcceptedBatch, ApiCall, ApiDeps, ApiResult, ApiRoute } from './api-call.ts'
import { authenticate } from './authenticate.ts'
import {
  chargeOnce,
  costOfBatch,
  costOfBrokenConnection,
  costOfRefusal,
  costOfRepeat,
  emptyBudgetRefusal,
} from './request-costs.ts'

/**
 * Answers every request under `/api/`. First checks the API key, whatever the path and the method, and then calls the route. A
 * bug causes a 500 for this request only. No function of this file is `async`: extra promises would slow down every reading.
 */
export const answerApiRequest = (deps: ApiDeps, request: Request, route: ApiRoute): Response | Promise<Response> => {
  const { core } = deps
  const requestId = core.entropy.uuid()
  let key: ApiCall['key'] | null = null
  try {
    const authentication = authenticate(core.projections.keys, request.headers, core.clock.now())
    key = authentication.key
    if (authentication.key === null || authentication.refusal !== null) {
      return refuseKey(deps, { request, requestId, key }, authentication.refusal ?? internalError)
    }
    const call = { request, requestId, key: authentication.key, bodyBytes: 0, isPacked: false, isCharged: false }
    const result = route(call)
    if (!(result instanceof Promise)) return answer(deps, call, result)
    return result.then(
      (settled) => answerOrBug(deps, call, settled),
      (thrown: unknown) => answerToBug(deps, call, thrown),
    )
  } catch (thrown) {
    return answerToBug(deps, { request, requestId, key }, thrown)
  }
}

/** Needs its own `try`, because the `try` of `answerApiRequest` has ended when the route's promise resolves. */
const answerOrBug = (deps: ApiDeps, call: ApiCall, result: ApiResult): Response | Promise<Response> => {
  try {
    return answer(deps, call, result)
  } catch (thrown) {
    return answerToBug(deps, call, thrown)
  }
}

const answer = (deps: ApiDeps, call: ApiCall, result: ApiResult): Response | Promise<Response> => {
  if (result === 'client_gone') {
    chargeOnce(deps, call, costOfBrokenConnection)
    // The client has closed the connection. If the client reads this answer all the same, a 500 does not say that the reading
    // was stored.
    return problemResponse(problemOf(internalError), plainHeaders(call.requestId))
  }
  return result.ok ? accept(deps, call, result.value) : refuse(deps, call, result.refusal)
}

const answerToBug = ({ lines }: ApiDeps, { requestId, key }: RefusedCall, thrown: unknown): Response => {
  lines.error('request failed', { requestId, keyId: key?.keyId ?? null, error: thrownError(thrown) })
  return problemResponse(problemOf(internalError), plainHeaders(requestId))
}

const internalError: ReadingRefusal = { kind: 'internal_error' }

const accept = (deps: ApiDeps, call: ApiCall, result: Accepted | AcceptedBatch): Response => {
  if ('rejected' in result) return acceptBatch(deps, call, result)
  if (result.repeats !== null) chargeOnce(deps, call, costOfRepeat(call))
  return new Response(successBody(result.recordedAt), { headers: acceptedHeaders(call.requestId, call.key, result) })
}

const acceptBatch = (deps: ApiDeps, call: ApiCall, batch: AcceptedBatch): Response => {
  const { stream, first, last, usage, repeats } = batch.accepted
  chargeOnce(deps, call, repeats === null ? costOfBatch(batch, call) : costOfRepeat(call))
  const headers = plainHeaders(call.requestId)
  headers['X-Receipt'] = `${stream}@${first}-${last}`
  if (repeats !== null) headers[replayedHeader] = 'true'
  addKeyHeaders(headers, call.key, usage)
  return new Response(batchBody(batch), { status: batch.rejected.length === 0 ? 200 : 207, headers })
}

type RefusedCall = Pick<ApiCall, 'request' | 'requestId'> & { readonly key: ApiCall['key'] | null }

/** Answers a request without a valid key. The answer has no headers about a key, and costs nothing of a key's budget. */
const refuseKey = (deps: ApiDeps, { request, requestId, key }: RefusedCall, refusal: ReadingRefusal): Response => {
  const problem = problemOf(refusal)
  const { status, code } = problem
  const who = key === null ? { keyId: null, address: deps.addressOf(request) } : { keyId: key.keyId }
  deps.refusalLines.note({ requestId, status, code, ...who })
  if (key !== null) deps.lastRefusals.note(key.keyId, { atMs: deps.core.clock.now(), code, isCost: false })
  return problemResponse(problem, plainHeaders(requestId))
}

const refuse = (deps: ApiDeps, call: ApiCall, found: ReadingRefusal): Response | Promise<Response> => {
  if (isKeyRefusal(found)) return refuseKey(deps, call, found)
  const { requestId, key } = call
  const { keyId } = key
  const refusal = (isOfNoRoute(found) ? emptyBudgetRefusal(deps, key) : null) ?? found
  const problem = problemOf(refusal)
  const { status, code } = problem
  deps.refusalLines.note({ requestId, status, code, keyId })
  const isCost = refusal.kind === 'rate_limited' && refusal.window === 'cost'
  deps.lastRefusals.note(keyId, { atMs: deps.core.clock.now(), code, isCost })
  chargeOnce(deps, call, costOfRefusal(refusal, call))

  const headers = plainHeaders(requestId)
  const withUsage = (usage: Usage | null): Response => {
    addKeyHeaders(headers, key, usage ?? { limit: deps.core.projections.keys.effectiveLimit(key) })
    return problemResponse(problem, headers)
  }
  const usage = deps.core.keys.usage(keyId)
  return usage instanceof Promise ? usage.then(withUsage) : withUsage(usage)
}

/** True for a wrong path or method. Then `order-of-checks.ts` has not run, so `refuse` checks the key's cost budget. */
const isOfNoRoute = ({ kind }: ReadingRefusal): boolean => kind === 'not_found' || kind === 'method_not_allowed'

const isKeyRefusal = ({ kind }: ReadingRefusal): boolean =>
  kind === 'key_missing' || kind === 'key_invalid' || kind === 'key_expired'

import type { Accepted, Core, Usage } from '../../actors/core.ts'
import type { KeyState } from '../../domain/key.ts'
import type { Outcome, ReadingRefusal } from '../../domain/refusal.ts'
import { isClientFault, problemOf, problemResponse } from '../problem.ts'
import { type RequestLines, thrownError } from '../request-lines.ts'
import { acceptedHeaders, addKeyHeaders, plainHeaders, replayedHeader } from './answer-headers.ts'
import { authenticate } from './authenticate.ts'
import { type AcceptedBatch, batchBody } from './batch-body.ts'
import type { LastRefusals } from './last-refusals.ts'
import type { RefusalWindows } from './refusal-windows.ts'
import { successBody } from './success-body.ts'

export type ApiDeps = {
  readonly core: Core
  readonly lastRefusals: LastRefusals
  readonly refusalWindows: RefusalWindows
  readonly lines: RequestLines
}

/** A request whose key is valid. */
export type Visit = { readonly request: Request; readonly requestId: string; readonly key: KeyState }

/** What a route makes of it. `client_gone`: nobody waits for an answer any more. */
export type ApiResult = Outcome<Accepted | AcceptedBatch, ReadingRefusal> | 'client_gone'
export type ApiRoute = (visit: Visit) => ApiResult | Promise<ApiResult>

/**
 * The one door of everything under `/api/`: asks for the key before anything else, whatever the path or method, hands the
 * request to its route, and turns what comes back into the answer. A bug costs its own request a 500 and no other.
 *
 * No `async` on the way that every reading takes: each would cost a promise or three, and a turn through the queue of jobs.
 */
export const answerApi = (deps: ApiDeps, request: Request, route: ApiRoute): Response | Promise<Response> => {
  const { core } = deps
  const requestId = core.entropy.uuid()
  let key: KeyState | null = null
  try {
    const authentication = authenticate(core.projections.keys, request.headers, core.clock.now())
    key = authentication.key
    if (authentication.key === null || authentication.refusal !== null) {
      return refuse(deps, { requestId, key }, authentication.refusal ?? internalError)
    }
    const visit = { request, requestId, key: authentication.key }
    const result = route(visit)
    if (!(result instanceof Promise)) return answer(deps, visit, result)
    return result.then(
      (settled) => answerOrBug(deps, visit, settled),
      (thrown: unknown) => answerToBug(deps, visit, thrown),
    )
  } catch (thrown) {
    return answerToBug(deps, { requestId, key }, thrown)
  }
}

/** What is thrown behind a promise does not reach the `try` around the request. */
const answerOrBug = (deps: ApiDeps, visit: Visit, result: ApiResult): Response | Promise<Response> => {
  try {
    return answer(deps, visit, result)
  } catch (thrown) {
    return answerToBug(deps, visit, thrown)
  }
}

const answer = (deps: ApiDeps, { requestId, key }: Visit, result: ApiResult): Response | Promise<Response> => {
  // Were somebody there all the same, this acknowledges nothing and asks to try again.
  if (result === 'client_gone') return problemResponse(problemOf(internalError), plainHeaders(requestId))
  return result.ok ? accept(requestId, key, result.value) : refuse(deps, { requestId, key }, result.refusal)
}

const answerToBug = ({ lines }: ApiDeps, { requestId, key }: Refused, thrown: unknown): Response => {
  lines.error('request failed', { requestId, keyId: key?.keyId ?? null, error: thrownError(thrown) })
  return problemResponse(problemOf(internalError), plainHeaders(requestId))
}

const internalError: ReadingRefusal = { kind: 'internal_error' }

const accept = (requestId: string, key: KeyState, result: Accepted | AcceptedBatch): Response =>
  'rejected' in result
    ? acceptBatch(requestId, key, result)
    : new Response(successBody(result.recordedAt), { headers: acceptedHeaders(requestId, key, result) })

const acceptBatch = (requestId: string, key: KeyState, batch: AcceptedBatch): Response => {
  const { stream, first, last, usage, repeats } = batch.accepted
  const headers = plainHeaders(requestId)
  headers['X-Receipt'] = `${stream}@${first}-${last}`
  if (repeats !== null) headers[replayedHeader] = 'true'
  addKeyHeaders(headers, key, usage)
  return new Response(batchBody(batch), { status: batch.rejected.length === 0 ? 200 : 207, headers })
}

type Refused = { readonly requestId: string; readonly key: KeyState | null }

const refuse = (deps: ApiDeps, { requestId, key }: Refused, found: ReadingRefusal): Response | Promise<Response> => {
  const refusal = (isOfNoRoute(found) && key !== null ? refusedTooOften(deps, key) : null) ?? found
  const problem = problemOf(refusal)
  const headers = plainHeaders(requestId)
  const { status, code } = problem
  deps.lines.info('request refused', { requestId, keyId: key?.keyId ?? null, status, code })
  if (key === null) return problemResponse(problem, headers)

  const now = deps.core.clock.now()
  deps.lastRefusals.note(key.keyId, { atMs: now, code })
  if (isKeyRefusal(refusal)) return problemResponse(problem, headers)
  const limit = deps.core.projections.keys.effectiveLimit(key)
  if (isClientFault(problem)) deps.refusalWindows.count(key.keyId, limit, now)
  const withUsage = (usage: Usage | null): Response => {
    addKeyHeaders(headers, key, usage ?? { limit })
    return problemResponse(problem, headers)
  }
  const usage = deps.core.keys.usage(key.keyId)
  return usage instanceof Promise ? usage.then(withUsage) : withUsage(usage)
}

/** Routes ask this before they judge anything; a wrong path or method comes to none of them. */
const isOfNoRoute = ({ kind }: ReadingRefusal): boolean => kind === 'not_found' || kind === 'method_not_allowed'

const refusedTooOften = ({ core, refusalWindows }: ApiDeps, key: KeyState): ReadingRefusal | null =>
  refusalWindows.refusal(key.keyId, core.projections.keys.effectiveLimit(key), core.clock.now())

const isKeyRefusal = ({ kind }: ReadingRefusal): boolean =>
  kind === 'key_missing' || kind === 'key_invalid' || kind === 'key_expired'

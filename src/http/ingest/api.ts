import type { Accepted, Core, Usage } from '../../actors/core.ts'
import type { KeyState } from '../../domain/key.ts'
import type { Outcome, ReadingRefusal } from '../../domain/refusal.ts'
import type { BodiesInFlight } from '../bodies-in-flight.ts'
import { problemOf, problemResponse } from '../problem.ts'
import { type RequestLines, thrownError } from '../request-lines.ts'
import { acceptedHeaders, addKeyHeaders, plainHeaders, replayedHeader } from './answer-headers.ts'
import { authenticate } from './authenticate.ts'
import { type AcceptedBatch, batchBody } from './batch-body.ts'
import { charge, costOfBatch, costOfRefusal, costOfRepeat, oneRequest } from './charge.ts'
import type { CostBudgets } from './cost-budgets.ts'
import type { IngestWork } from './ingest-work.ts'
import type { LastRefusals } from './last-refusals.ts'
import type { RefusalLines } from './refusal-lines.ts'
import { successBody } from './success-body.ts'

export type ApiDeps = {
  readonly core: Core
  readonly lastRefusals: LastRefusals
  readonly costBudgets: CostBudgets
  readonly work: IngestWork
  readonly lines: RequestLines
  readonly refusalLines: RefusalLines
  /** Who sent a request. It costs a microsecond, so only refused requests without a valid key ask. */
  readonly addressOf: (request: Request) => string
  readonly bodies: BodiesInFlight
}

/** A request whose key is valid. */
export type Visit = {
  readonly request: Request
  readonly requestId: string
  readonly key: KeyState
  /** Bytes of its body that were read and unpacked so far. */
  bodyBytes: number
  /** Whether its cost was taken from the key's budget. */
  isCharged: boolean
}

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
      return refuseKey(deps, { request, requestId, key }, authentication.refusal ?? internalError)
    }
    const visit: Visit = { request, requestId, key: authentication.key, bodyBytes: 0, isCharged: false }
    const result = route(visit)
    if (!(result instanceof Promise)) return answer(deps, visit, result)
    return result.then(
      (settled) => answerOrBug(deps, visit, settled),
      (thrown: unknown) => answerToBug(deps, visit, thrown),
    )
  } catch (thrown) {
    return answerToBug(deps, { request, requestId, key }, thrown)
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

const answer = (deps: ApiDeps, visit: Visit, result: ApiResult): Response | Promise<Response> => {
  if (result === 'client_gone') {
    charge(deps, visit, oneRequest)
    // If somebody is there all the same, this acknowledges nothing and asks to try again.
    return problemResponse(problemOf(internalError), plainHeaders(visit.requestId))
  }
  return result.ok ? accept(deps, visit, result.value) : refuse(deps, visit, result.refusal)
}

const answerToBug = ({ lines }: ApiDeps, { requestId, key }: Refused, thrown: unknown): Response => {
  lines.error('request failed', { requestId, keyId: key?.keyId ?? null, error: thrownError(thrown) })
  return problemResponse(problemOf(internalError), plainHeaders(requestId))
}

const internalError: ReadingRefusal = { kind: 'internal_error' }

const accept = (deps: ApiDeps, visit: Visit, result: Accepted | AcceptedBatch): Response => {
  if ('rejected' in result) return acceptBatch(deps, visit, result)
  if (result.repeats !== null) charge(deps, visit, costOfRepeat(visit))
  return new Response(successBody(result.recordedAt), { headers: acceptedHeaders(visit.requestId, visit.key, result) })
}

const acceptBatch = (deps: ApiDeps, visit: Visit, batch: AcceptedBatch): Response => {
  const { stream, first, last, usage, repeats } = batch.accepted
  charge(deps, visit, repeats === null ? costOfBatch(batch, visit) : costOfRepeat(visit))
  const headers = plainHeaders(visit.requestId)
  headers['X-Receipt'] = `${stream}@${first}-${last}`
  if (repeats !== null) headers[replayedHeader] = 'true'
  addKeyHeaders(headers, visit.key, usage)
  return new Response(batchBody(batch), { status: batch.rejected.length === 0 ? 200 : 207, headers })
}

type Refused = Pick<Visit, 'request' | 'requestId'> & { readonly key: KeyState | null }

/** The key itself is refused. The answer tells nothing else, and nothing is charged. */
const refuseKey = (deps: ApiDeps, { request, requestId, key }: Refused, refusal: ReadingRefusal): Response => {
  const problem = problemOf(refusal)
  const { status, code } = problem
  const who = key === null ? { keyId: null, address: deps.addressOf(request) } : { keyId: key.keyId }
  deps.refusalLines.note({ requestId, status, code, ...who })
  if (key !== null) deps.lastRefusals.note(key.keyId, { atMs: deps.core.clock.now(), code, isCost: false })
  return problemResponse(problem, plainHeaders(requestId))
}

const refuse = (deps: ApiDeps, visit: Visit, found: ReadingRefusal): Response | Promise<Response> => {
  if (isKeyRefusal(found)) return refuseKey(deps, visit, found)
  const { requestId, key } = visit
  const { keyId } = key
  const refusal = (isOfNoRoute(found) ? costRefusal(deps, key) : null) ?? found
  const problem = problemOf(refusal)
  const { status, code } = problem
  deps.refusalLines.note({ requestId, status, code, keyId })
  const isCost = refusal.kind === 'rate_limited' && refusal.window === 'cost'
  deps.lastRefusals.note(keyId, { atMs: deps.core.clock.now(), code, isCost })
  charge(deps, visit, costOfRefusal(refusal, visit))

  const headers = plainHeaders(requestId)
  const withUsage = (usage: Usage | null): Response => {
    addKeyHeaders(headers, key, usage ?? { limit: deps.core.projections.keys.effectiveLimit(key) })
    return problemResponse(problem, headers)
  }
  const usage = deps.core.keys.usage(keyId)
  return usage instanceof Promise ? usage.then(withUsage) : withUsage(usage)
}

/** Routes look at the budget before they judge anything; a wrong path or method comes to none of them. */
const isOfNoRoute = ({ kind }: ReadingRefusal): boolean => kind === 'not_found' || kind === 'method_not_allowed'

/** The 429 of a key that has nothing left to spend on requests that store nothing; `null` lets the request through. */
export const costRefusal = ({ core, costBudgets }: ApiDeps, key: KeyState): ReadingRefusal | null =>
  costBudgets.has(key.keyId)
    ? costBudgets.refusal(key.keyId, core.projections.keys.effectiveLimit(key), core.clock.now())
    : null

const isKeyRefusal = ({ kind }: ReadingRefusal): boolean =>
  kind === 'key_missing' || kind === 'key_invalid' || kind === 'key_expired'

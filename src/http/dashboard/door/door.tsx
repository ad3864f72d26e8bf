import { InsecurePage } from '../../../../views/frame/insecure.tsx'
import type { PageProblem } from '../../../../views/frame/problem-page.tsx'
import { paths } from '../../../../views/paths.ts'
import { base62 } from '../../../domain/base62.ts'
import { Outage } from '../../../log/event-log.ts'
import { networkOf } from '../../client-address.ts'
import { closeConnection, retrySoon } from '../../problem.ts'
import { thrownError } from '../../request-lines.ts'
import type { BodyHolder } from '../../unfinished-bodies.ts'
import { type FormFault, noFields, readForm } from '../forms/read-form.ts'
import { askAgain, endOfStream } from '../live/live-stream.ts'
import { noticeNamed, noticeText } from '../notice.ts'
import { htmlPage, notFound, problemPage, seeOther } from '../page-answers.tsx'
import { waitForTurn } from '../show/pauses.ts'
import {
  type Action,
  type Answer,
  type DashboardDeps,
  type OpenSession,
  type Route,
  refusedVisitor,
  type SignedInVisit,
  type Visit,
} from '../visit.ts'
import { cookieText, readCookie } from './cookies.ts'
import { csrfMatches, csrfToken, isCrossSite } from './csrf.ts'
import { type Origin, originOf } from './origin.ts'
import type { DoorReason } from './refusal-traces.ts'
import { secured } from './security-headers.ts'

export type Knock = {
  readonly request: Request
  /** Named parts of the path, percent-decoded, `null` where that was not possible; none at all if the path has none. */
  readonly params: Readonly<Record<string, string | null>> | undefined
  readonly peerAddress: string | null
}

/**
 * The one door of the dashboard: whatever a route asks for is checked here and nowhere else, in this order: whether there is a host's
 * name, whose it is, whether anything is there, the way it came, the method, another site's hand, who is signed in, the role, the form, both of these
 * again once the form is here, its token. A bug costs its own request a 500 and no other.
 */
export const answerDashboard = async (deps: DashboardDeps, route: Route, knock: Knock): Promise<Response> => {
  const { request } = knock
  if (!URL.canParse(request.url)) return secured(unreadableHost())
  const origin = originOf(request, knock.peerAddress, deps.web)
  if (origin.trust === 'unknown_host') return secured(unknownHost())
  const visit = visitOf(deps, knock, origin)
  try {
    return secured(await enter(deps, route, visit), origin)
  } catch (thrown) {
    deps.lines.error('page failed', { requestId: visit.requestId, error: thrownError(thrown) })
    if (!(thrown instanceof Outage))
      return secured(await problemPage(visit, { problem: 'internal_error', status: 500 }), origin)
    const problem = thrown.outcome === 'unknown' ? 'not_confirmed' : 'store_unavailable'
    return secured(await problemPage(visit, { problem, status: 503 }), origin)
  }
}

const enter = async (deps: DashboardDeps, route: Route, visit: Visit): Promise<Response> => {
  const { request, origin } = visit
  const isPost = request.method === 'POST'
  const isLook = request.method === 'GET' || request.method === 'HEAD'
  const isNowhere = route.get === undefined && route.post === undefined
  // What is sent to no page is a device's, by a wrong path: nobody is there to read how to come in.
  if (isNowhere && !isLook) return notFound(visit)
  if (origin.trust === 'insecure')
    return htmlPage(visit, <InsecurePage shell={visit.shell} port={portOf(visit)} />, 403)
  if (isNowhere) return notFound(visit)
  const action = isPost ? route.post : isLook ? route.get : undefined
  if (action === undefined) return methodNotAllowed(visit, route)
  if (isPost && isCrossSite(request.headers, origin.own)) {
    traceRefused(deps, visit, 'cross_site')
    return formExpired(visit)
  }

  const allowed = allow(deps, action, visit)
  if (allowed instanceof Response || allowed instanceof Promise) return allowed
  if (isPost) return enterWithForm(deps, action, visit)
  return action.access === 'public' ? allowed(visit) : enterInTurn(deps, action, visit)
}

/** Pages are made one after the other. The session may end while the page waits for its turn. */
const enterInTurn = async (deps: DashboardDeps, action: Action, asked: Visit): Promise<Response> => {
  await waitForTurn()
  const visit: Visit = { ...asked, ...presentOf(deps, asked) }
  const allowed = allow(deps, action, visit)
  return allowed instanceof Response || allowed instanceof Promise ? allowed : allowed(visit)
}

/** Whoever sends a form decides how long that takes, and may be signed out, demoted or removed before its last byte. */
const enterWithForm = async (deps: DashboardDeps, action: Action, asked: Visit): Promise<Response> => {
  const { request, origin } = asked
  const form = await readForm(deps.bodies, request, holderOf(asked))
  const visit: Visit = { ...asked, ...presentOf(deps, asked) }
  const allowed = allow(deps, action, visit)
  if (allowed instanceof Response || allowed instanceof Promise) return allowed
  if (typeof form === 'string') return unreadableForm(visit, form)
  const cookieSecret = visit.session?.secret ?? readCookie(request.headers, 'visitor', origin.trust)
  if (cookieSecret === null) {
    traceRefused(deps, visit, 'no_cookie')
    return problemPage(visit, { problem: 'no_cookie', status: 403 })
  }
  if (!csrfMatches(form('_csrf'), cookieSecret)) {
    traceRefused(deps, visit, 'form_token')
    return formExpired(visit)
  }
  return allowed({ ...visit, form })
}

const traceRefused = ({ traces }: DashboardDeps, visit: Visit, reason: DoorReason): void =>
  traces.refused({ what: 'form', reason, ...refusedVisitor(visit, visit.session?.email ?? null) })

const holderOf = ({ session, origin }: Visit): BodyHolder =>
  session === null
    ? { pool: 'visitors', holder: networkOf(origin.clientAddress) }
    : { pool: 'operators', holder: session.email }

/** The action as something that can be done, if this visitor may; else the answer that says why not. */
const allow = (deps: DashboardDeps, action: Action, visit: Visit): Answer | ((visit: Visit) => Answer) => {
  if (action.access === 'public') return action.answer
  const { session } = visit
  if (session === null) return signInFirst(deps, visit)
  if (action.access === 'admin' && session.role !== 'admin') {
    traceRefused(deps, visit, 'role')
    return problemPage(visit, { problem: 'forbidden', status: 403 })
  }
  const { answer } = action
  return (entered) => {
    deps.core.operators.useSession(session.secret)
    return answer(signedIn(entered, session))
  }
}

const signedIn = (visit: Visit, session: OpenSession): SignedInVisit => ({ ...visit, session })

/** A form that comes after the session has ended is lost, and the page says so. */
const signInFirst = (deps: DashboardDeps, visit: Visit): Response => {
  if (visit.path.startsWith(livePrefix)) return mayBeOpenElsewhere(deps, visit) ? askAgain() : endOfStream()
  if (visit.request.method === 'POST') return seeOther(visit, paths.signIn, { notice: 'session_ended' })
  const { search } = new URL(visit.request.url)
  const asked = `${visit.path}${search}`
  return seeOther(visit, asked === '/' ? paths.signIn : `${paths.signIn}?next=${encodeURIComponent(asked)}`)
}

const livePrefix = '/live/'

/** A session that another node opened a moment ago is not known here yet; one that is over is known to be. */
const mayBeOpenElsewhere = ({ core }: DashboardDeps, { request, origin }: Visit): boolean => {
  const secret = readCookie(request.headers, 'session', origin.trust)
  return secret !== null && !core.operators.isSessionOver(secret)
}

const visitOf = (deps: DashboardDeps, { request, params }: Knock, origin: Origin): Visit => {
  const url = new URL(request.url)
  const asked = {
    request,
    requestId: deps.core.entropy.uuid(),
    origin,
    path: url.pathname,
    query: url.searchParams,
    params: namedParts(params),
    form: noFields,
    notice: noticeNamed(readCookie(request.headers, 'notice', origin.trust)),
  }
  return { ...asked, ...presentOf(deps, asked) }
}

type Present = 'nowMs' | 'session' | 'shell' | 'cookies'

/** What of a visit is so at this instant, and may no longer be so at the next: the time, and who is signed in. */
const presentOf = (
  deps: DashboardDeps,
  { request, origin, notice }: Pick<Visit, 'request' | 'origin' | 'notice'>,
): Pick<Visit, Present> => {
  const { trust } = origin
  const session = sessionOf(deps, request, origin)
  const known = session?.secret ?? readCookie(request.headers, 'visitor', trust)
  const secret = known ?? base62(deps.core.entropy.bytes(32), 43)
  const nowMs = deps.core.clock.now()
  return {
    nowMs,
    session,
    shell: {
      nowMs,
      operator: session === null ? null : { email: session.email, role: session.role },
      csrf: csrfToken(secret),
      assets: deps.assets,
      insecureHttp: trust === 'insecure_allowed',
      reasons: session === null ? [] : deps.reasons(),
      notice: noticeText(notice),
    },
    cookies: known === null && trust !== 'insecure' ? [cookieText({ kind: 'visitor', value: secret }, trust)] : [],
  }
}

const sessionOf = ({ core }: DashboardDeps, request: Request, { trust }: Origin): OpenSession | null => {
  if (trust !== 'secure' && trust !== 'insecure_allowed') return null
  const secret = readCookie(request.headers, 'session', trust)
  const session = secret === null ? null : core.operators.session(secret)
  return secret === null || session === null ? null : { ...session, secret }
}

const namedParts = (params: Knock['params']): Visit['params'] =>
  Object.fromEntries(Object.entries(params ?? {}).flatMap(([name, value]) => (value === null ? [] : [[name, value]])))

const portOf = ({ request }: Visit): number => Number(new URL(request.url).port) || 80

const formExpired = (visit: Visit): Promise<Response> => problemPage(visit, { problem: 'form_expired', status: 403 })

type FormProblem = {
  readonly problem: PageProblem
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
}

const formFaults: Readonly<Record<FormFault, FormProblem>> = {
  too_large: { problem: 'form_too_large', status: 413 },
  not_a_form: { problem: 'form_expired', status: 415 },
  client_gone: { problem: 'form_expired', status: 400 },
  overloaded: { problem: 'too_many_forms', status: 503, headers: retrySoon },
  too_slow: { problem: 'form_too_slow', status: 408, headers: closeConnection },
}

const unreadableForm = async (visit: Visit, fault: FormFault): Promise<Response> => {
  const { headers = {}, ...page } = formFaults[fault]
  const answer = await problemPage(visit, page)
  for (const [name, value] of Object.entries(headers)) answer.headers.set(name, value)
  return answer
}

const methodNotAllowed = async (visit: Visit, route: Route): Promise<Response> => {
  const answer = await problemPage(visit, { problem: 'not_found', status: 405 })
  const allowed = [...(route.get === undefined ? [] : ['GET', 'HEAD']), ...(route.post === undefined ? [] : ['POST'])]
  answer.headers.set('Allow', allowed.join(', '))
  return answer
}

/** No browser sends one. Over TLS, where every name is ours, and beside an address in figures nothing else would refuse it. */
const unreadableHost = (): Response =>
  inWords('The Host header is not valid. Send a host name or an IP address, with a port of at most 65535.', 400)

/** Whoever asks under a name that is not ours gets no more than these words. */
const unknownHost = (): Response =>
  inWords(
    'This service does not accept this host name. Use localhost or the IP address, or set PUBLIC_URL to this address.',
    421,
  )

/** Not a page: a page has links, and needs an address that they begin at. */
const inWords = (words: string, status: number): Response =>
  new Response(`${words}\n`, { status, headers: { 'Content-Type': 'text/plain; charset=utf-8' } })

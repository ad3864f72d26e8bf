import { InsecurePage } from '../../../../views/frame/insecure.tsx'
import type { PageProblem } from '../../../../views/frame/problem-page.tsx'
import { paths } from '../../../../views/paths.ts'
import { base62 } from '../../../domain/base62.ts'
import { thrownError } from '../../../domain/error-message.ts'
import { withoutSecrets } from '../../../domain/text.ts'
import { Outage } from '../../../log/event-log.ts'
import { networkOf } from '../../client-address.ts'
import { closeConnection, retrySoon } from '../../problem.ts'
import { traceContextOf } from '../../trace-context.ts'
import type { BodyHolder } from '../../unfinished-bodies.ts'
import { keptText } from '../forms/kept-form.ts'
import { type FormFault, fieldsOf, noFields, readForm } from '../forms/read-form.ts'
import { askAgain, endOfStream } from '../live/server-sent-events.ts'
import { noticeNamed, shownNotice } from '../notice.ts'
import { htmlPage, notFound, problemPage, seeOther } from '../page-answers.tsx'
import { openKeptForm, signInPage } from '../pages/sign-in-pages.tsx'
import { waitForTurn } from '../show/pauses.ts'
import { type DashboardDeps, type OpenSession, refusedVisitor, type SignedInVisit, type Visit } from '../visit.ts'
import { cookieText, readCookie } from './cookies.ts'
import { csrfMatches, csrfToken, isCrossSite, isFromOwnPage, isOwnedBy } from './csrf.ts'
import { type Origin, originOf } from './origin.ts'
import type { DoorReason } from './refusal-traces.ts'
import { secured } from './security-headers.ts'

type Answer = Response | Promise<Response>
type Page<V> = (deps: DashboardDeps, visit: V) => Answer

/** `operator` admits admins and auditors. `nobody` is for the methods that a path does not have. */
type Action =
  | { readonly access: 'visitor'; readonly answer: Page<Visit> }
  | {
      readonly access: 'operator' | 'admin'
      readonly answer: Page<SignedInVisit>
      readonly formPage?: Page<SignedInVisit> | undefined
    }
  | { readonly access: 'nobody'; readonly allow: readonly string[] }

type Routed = {
  /** A template, like `/keys/:keyId`. */
  readonly route: string
  readonly request: Request
  /** Decoded. `null` if the percent-encoding of a value is not valid. */
  readonly params: Readonly<Record<string, string | null>> | undefined
  readonly server: Bun.Server<unknown> | null
  readonly set: { status?: number | string }
  readonly html: (page: JSX.Element) => string | Response | Promise<string | Response>
}
type Handler = (routed: Routed) => Promise<Response>

/** A page can be mounted only through one of these, so none is public by mistake. */
export type Door = {
  visitor(page: Page<Visit>): Handler
  operator(page: Page<SignedInVisit>): Handler
  /** `formPage` shows the fields of a form that outlived its session (`kept-form.ts`). Like every GET, it changes nothing. */
  admin(page: Page<SignedInVisit>, formPage?: Page<SignedInVisit>): Handler
  /** 404 if no method is allowed. */
  nobody(allow: readonly string[]): Handler
}

/**
 * Checks every request to the dashboard, in this order. The pages rely on these checks and do not repeat them.
 *
 * 1. The host name belongs to this service (`origin.ts`).
 * 2. The path has a page.
 * 3. The connection is secure, or `ALLOW_INSECURE_HTTP` is set.
 * 4. The page allows the method, and the address has no secret in its query (`text.ts`).
 * 5. A form comes from our own site (`csrf.ts`).
 * 6. The session has the role that the route needs.
 * 7. The form arrives completely. Then step 6 is repeated, because the session can end meanwhile.
 * 8. The form has the token of its cookie (`csrf.ts`). If it has one of an earlier session, it is only shown again.
 *
 * These are no hooks of Elysia. A hook would end before the page is made, but a page must give back its turn
 * (`operator-turns.ts`) even if it throws.
 */
export const doorOf = (deps: DashboardDeps): Door => {
  const guarded =
    (action: Action): Handler =>
    async (routed) => {
      const answer = await answerDashboard(deps, action, routed)
      // A page says its status in `set`, and Elysia puts it into an answer of status 200.
      const status = answer.status === 200 ? Number(routed.set.status ?? 200) : answer.status
      deps.requests.count(routed.route, status)
      return answer
    }
  return {
    visitor: (answer) => guarded({ access: 'visitor', answer }),
    operator: (answer) => guarded({ access: 'operator', answer }),
    admin: (answer, formPage) => guarded({ access: 'admin', answer, formPage }),
    nobody: (allow) => guarded({ access: 'nobody', allow }),
  }
}

const answerDashboard = async (deps: DashboardDeps, action: Action, routed: Routed): Promise<Response> => {
  const { request, server } = routed
  if (!URL.canParse(request.url)) return secured(unreadableHost())
  const origin = originOf(request, server?.requestIP(request)?.address ?? null, deps.web)
  if (origin.trust === 'unknown_host') return secured(unknownHost())
  const visit = visitOf(deps, routed, origin)
  try {
    return secured(await checkAndAnswer(deps, action, visit), origin)
  } catch (thrown) {
    const { requestId } = visit
    deps.lines.error('page failed', { requestId, ...traceContextOf(request.headers), error: thrownError(thrown) })
    if (!(thrown instanceof Outage))
      return secured(await problemPage(visit, { problem: 'internal_error', status: 500 }), origin)
    const problem = thrown.outcome === 'unknown' ? 'not_confirmed' : 'store_unavailable'
    return secured(await problemPage(visit, { problem, status: 503 }), origin)
  }
}

const checkAndAnswer = async (deps: DashboardDeps, action: Action, visit: Visit): Promise<Response> => {
  const { request, origin } = visit
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  const hasNoPage = action.access === 'nobody' && action.allow.length === 0
  // It probably comes from a device with a wrong path, whose developer the page about https would mislead.
  if (hasNoPage && !isRead) return notFound(visit)
  if (origin.trust === 'insecure')
    return htmlPage(visit, <InsecurePage shell={visit.shell} port={portOf(visit)} />, 403)
  if (hasNoPage) return notFound(visit)
  const cut = isRead ? addressWithoutSecrets(visit) : null
  if (cut !== null) return seeOther(visit, cut)
  if (action.access === 'nobody') return methodNotAllowed(visit, action.allow)
  if (!isRead && isCrossSite(request.headers, origin.own)) {
    traceRefused(deps, visit, 'cross_site')
    return formExpired(visit)
  }

  const permission = permissionFor(deps, action, visit)
  if (!isRead && (permission.isGranted || mayBeKept(action, visit))) return answerForm(deps, action, visit)
  if (!permission.isGranted) return permission.refusal
  if (action.access === 'visitor') return permission.answer(visit)
  return answerInPlace(deps, action, visit)
}

/** So that no history, link or `next` of a sign-in keeps the secret. `null`: the address has none. */
const addressWithoutSecrets = ({ path, query }: Visit): string | null => {
  if (![...query.values()].some((text) => withoutSecrets(text) !== text)) return null
  const cut = [...query].map(([name, text]): [string, string] => [name, withoutSecrets(text)])
  return `${path}?${new URLSearchParams(cut)}`
}

/** The session is checked after the wait for a place. */
const answerInPlace = async (deps: DashboardDeps, action: Admitting, visit: Visit): Promise<Response> => {
  const { request, session, path } = visit
  const turn = { email: session?.email ?? '', signal: request.signal }
  const answer = await deps.turns.run(turn, () => answerPageInTurn(deps, action, visit))
  if (answer !== null) return answer
  const back = { href: `${path}${new URL(request.url).search}`, words: 'Try again' }
  const refusal = await problemPage(visit, { problem: 'too_many_pages', status: 503, back })
  return withHeaders(refusal, retrySoon)
}

/**
 * Pages of operators wait for their own turn of the event loop, so that they do not delay readings. The session can end
 * meanwhile.
 */
const answerPageInTurn = async (deps: DashboardDeps, action: Admitting, arrived: Visit): Promise<Response> => {
  await waitForTurn()
  const visit: Visit = { ...arrived, ...currentFacts(deps, arrived) }
  const permission = permissionFor(deps, action, visit)
  return permission.isGranted ? permission.answer(visit) : permission.refusal
}

/** The session can end, or lose its role, while the form arrives. */
const answerForm = async (deps: DashboardDeps, action: Admitting, arrived: Visit): Promise<Response> => {
  const { request, origin } = arrived
  const form = await readForm(deps.bodies, request, holderOf(arrived))
  const visit: Visit = { ...arrived, ...currentFacts(deps, arrived) }
  const permission = permissionFor(deps, action, visit)
  if (!permission.isGranted) {
    const address = `${visit.path}${new URL(request.url).search}`
    const kept = typeof form !== 'string' && mayBeKept(action, visit) ? keptText(address, form) : null
    return kept === null ? permission.refusal : signInWith(deps, visit, kept)
  }
  if (typeof form === 'string') return unreadableForm(visit, form)
  const cookieSecret = visit.session?.secret ?? readCookie(request.headers, 'visitor', origin.trust)
  if (cookieSecret === null) {
    traceRefused(deps, visit, 'no_cookie')
    return problemPage(visit, { problem: 'no_cookie', status: 403 })
  }
  const sent: Visit = { ...visit, form: fieldsOf(form) }
  if (csrfMatches(sent.form('_csrf'), cookieSecret)) return permission.answer(sent)
  const again = shownAgain(deps, action, sent)
  if (again !== null) return again
  traceRefused(deps, visit, 'form_token')
  return formExpired(visit)
}

/** Only a form that a page of this site sent, so that no other site can fill in a form that somebody then confirms. */
const mayBeKept = (action: Admitting, { request, origin, session }: Visit): boolean =>
  session === null && hasFormPage(action) && isFromOwnPage(request.headers, origin.own)

const hasFormPage = (action: Admitting): boolean => action.access !== 'visitor' && action.formPage !== undefined

const signInWith = (deps: DashboardDeps, visit: Visit, kept: string): Promise<Response> => {
  const shell = { ...visit.shell, notice: shownNotice('form_is_kept') }
  return htmlPage(visit, signInPage(deps, { ...visit, shell }, { next: paths.cellars, kept }), 401)
}

const shownAgain = (deps: DashboardDeps, action: Admitting, visit: Visit): Answer | null => {
  const { request, origin, session, form } = visit
  if (session === null || !isFromOwnPage(request.headers, origin.own)) return null
  // Its operator has signed in on another tab.
  if (form('kept') !== '' && visit.path === paths.signIn) return openKeptForm(visit, session.email)
  if (action.access === 'visitor' || action.formPage === undefined) return null
  if (!isOwnedBy(form('_csrf'), session.email)) return null
  const shell = { ...visit.shell, notice: shownNotice('form_not_sent') }
  return action.formPage(deps, { ...visit, session, shell })
}

const traceRefused = ({ traces }: DashboardDeps, visit: Visit, reason: DoorReason): void =>
  traces.refused({ what: 'form', reason, ...refusedVisitor(visit, visit.session?.email ?? null) })

const holderOf = ({ session, origin }: Visit): BodyHolder =>
  session === null
    ? { pool: 'visitors', holder: networkOf(origin.clientAddress) }
    : { pool: 'operators', holder: session.email }

type Permission =
  | { readonly isGranted: true; readonly answer: (visit: Visit) => Answer }
  | { readonly isGranted: false; readonly refusal: Answer }

type Admitting = Exclude<Action, { readonly access: 'nobody' }>

const permissionFor = (deps: DashboardDeps, action: Admitting, visit: Visit): Permission => {
  if (action.access === 'visitor') return { isGranted: true, answer: (checked) => action.answer(deps, checked) }
  const { session } = visit
  if (session === null) return { isGranted: false, refusal: signInFirst(deps, visit) }
  if (action.access === 'admin' && session.role !== 'admin') {
    traceRefused(deps, visit, 'role')
    return { isGranted: false, refusal: problemPage(visit, { problem: 'forbidden', status: 403 }) }
  }
  const answer = (checked: Visit): Answer => {
    deps.core.operators.useSession(session.secret)
    return action.answer(deps, { ...checked, session })
  }
  return { isGranted: true, answer }
}

const signInFirst = (deps: DashboardDeps, visit: Visit): Response => {
  if (visit.path.startsWith(livePrefix)) return mayBeOpenElsewhere(deps, visit) ? askAgain() : endOfStream()
  if (visit.request.method === 'POST') return seeOther(visit, paths.signIn, { notice: 'session_ended' })
  const { search } = new URL(visit.request.url)
  const next = `${visit.path}${search}`
  return seeOther(visit, next === '/' ? paths.signIn : `${paths.signIn}?next=${encodeURIComponent(next)}`)
}

const livePrefix = '/live/'

/** Another node may have opened the session a moment ago. Then the live page must ask again, instead of stopping. */
const mayBeOpenElsewhere = ({ core }: DashboardDeps, { request, origin }: Visit): boolean => {
  const secret = readCookie(request.headers, 'session', origin.trust)
  return secret !== null && !core.operators.isSessionOver(secret)
}

const visitOf = (deps: DashboardDeps, { request, params, set, html }: Routed, origin: Origin): Visit => {
  const url = new URL(request.url)
  const arrived = {
    request,
    requestId: deps.core.entropy.requestId(deps.core.clock.now()),
    origin,
    path: url.pathname,
    query: url.searchParams,
    params: decodedParams(params),
    form: noFields,
    show: async (page: JSX.Element, status: number) => {
      set.status = status
      const answer = await html(page)
      return answer instanceof Response ? answer : new Response(answer)
    },
    notice: noticeNamed(readCookie(request.headers, 'notice', origin.trust)),
  }
  return { ...arrived, ...currentFacts(deps, arrived) }
}

const currentFacts = (
  deps: DashboardDeps,
  { request, origin, notice }: Pick<Visit, 'request' | 'origin' | 'notice'>,
): Pick<Visit, 'nowMs' | 'session' | 'shell' | 'cookies'> => {
  const { trust } = origin
  const session = sessionOf(deps, request, origin)
  const knownSecret = session?.secret ?? readCookie(request.headers, 'visitor', trust)
  const secret = knownSecret ?? base62(deps.core.entropy.bytes(32), 43)
  const nowMs = deps.core.clock.now()
  return {
    nowMs,
    session,
    shell: {
      nowMs,
      operator: session === null ? null : { email: session.email, role: session.role },
      csrf: csrfToken(secret, session?.email ?? null),
      assets: deps.assets,
      insecureHttp: trust === 'insecure_allowed',
      reasons: session === null ? [] : deps.reasons(),
      attention: session === null ? 0 : attentionCount(deps.core),
      notice: shownNotice(notice),
    },
    cookies:
      knownSecret === null && trust !== 'insecure' ? [cookieText({ kind: 'visitor', value: secret }, trust)] : [],
  }
}

const attentionCount = ({ attention }: DashboardDeps['core']): number =>
  attention.current().reduce((sum, { rest }) => sum + Number(rest === null), attention.more())

const sessionOf = ({ core }: DashboardDeps, request: Request, { trust }: Origin): OpenSession | null => {
  if (trust !== 'secure' && trust !== 'insecure_allowed') return null
  const secret = readCookie(request.headers, 'session', trust)
  const session = secret === null ? null : core.operators.session(secret)
  return secret === null || session === null ? null : { ...session, secret }
}

const decodedParams = (params: Routed['params']): Visit['params'] =>
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
  return withHeaders(await problemPage(visit, page), headers)
}

const withHeaders = (answer: Response, headers: Readonly<Record<string, string>>): Response => {
  for (const [name, value] of Object.entries(headers)) answer.headers.set(name, value)
  return answer
}

const methodNotAllowed = async (visit: Visit, allow: readonly string[]): Promise<Response> =>
  withHeaders(await problemPage(visit, { problem: 'not_found', status: 405 }), { Allow: allow.join(', ') })

/** For a `Host` header that makes `request.url` an invalid URL. Over TLS, `originOf` accepts any host name. */
const unreadableHost = (): Response =>
  inWords(
    'The Host header is not valid. Send a host name or an IP address. A port is optional, and must be at most 65535.',
    400,
  )

const unknownHost = (): Response =>
  inWords(
    'This service does not accept this host name. Use localhost or the IP address, or set PUBLIC_URL to the address that you use.',
    421,
  )

const inWords = (words: string, status: number): Response =>
  new Response(`${words}\n`, { status, headers: { 'Content-Type': 'text/plain; charset=utf-8' } })

import { SignInPage } from '../../../../views/operators/sign-in-page.tsx'
import { paths } from '../../../../views/paths.ts'
import type { SignedIn, SignInFrom } from '../../../actors/core.ts'
import { deviceMsMax } from '../../../limits.ts'
import { browserName } from '../door/browser-name.ts'
import { knownBrowser, passwordClient } from '../door/known-browser.ts'
import { safeNext } from '../door/next-path.ts'
import { withPasswordAttempt } from '../door/password-attempt.ts'
import { cookieText, readCookie } from '../door/session-cookie.ts'
import { tooManyAttempts } from '../door/too-many-attempts.ts'
import { type Faults, noFaults, placedFaults } from '../forms/field-faults.ts'
import { htmlPage, refusedPage, seeOther } from '../page-answers.tsx'
import type { DashboardDeps, Route, SignedInVisit, Visit } from '../visit.ts'

export const signInRoutes = (deps: DashboardDeps): readonly Route[] => [
  {
    path: paths.signIn,
    get: { access: 'public', answer: (visit) => showSignIn(deps, visit) },
    post: { access: 'public', answer: (visit) => signIn(deps, visit) },
  },
  { path: paths.signOut, post: { access: 'operator', answer: (visit) => signOut(deps, visit) } },
]

const showSignIn = (deps: DashboardDeps, visit: Visit): Response | Promise<Response> => {
  const next = safeNext(visit.query.get('next') ?? '')
  if (visit.session !== null) return seeOther(visit, next)
  return htmlPage(visit, signInPage(deps, visit, { next }))
}

const signIn = async (deps: DashboardDeps, visit: Visit): Promise<Response> => {
  const { core } = deps
  const email = visit.form('email').trim().toLowerCase()
  const next = safeNext(visit.form('next'))
  const isAccount = core.projections.operators.get(email) !== null
  const device = knownBrowser(deps, visit, email)
  const wrong = isAccount ? 'wrong_password' : 'no_such_account'
  const input = { email, password: visit.form('password') }
  const from = signInFrom(visit, { isKnown: device !== null })
  const opened = await withPasswordAttempt(deps, visit, { email, isAccount, device, wrong }, () =>
    core.operators.signIn(input, from, visit.requestId),
  )
  const again = (faults: Faults) => signInPage(deps, visit, { next, faults })
  if ('waitMs' in opened) return tooManyAttempts(visit, opened.waitMs, again)
  if (opened.ok) return intoDashboard(visit, opened.value, next)
  return refusedPage(visit, opened.refusal, { back: { href: paths.signIn, words: 'Back to sign-in' }, again })
}

/** Operators see first that somebody else made a link to their account. */
export const intoDashboard = (visit: Visit, opened: SignedIn, next: string): Response => {
  const cookies = sessionCookies(visit, opened)
  if (opened.isToldOfLink) return seeOther(visit, paths.account, { notice: 'link_by_other', cookies })
  return seeOther(visit, next, { cookies })
}

/**
 * The browser that signs in, and the session that it has now. With `isKnown`, its password is compared before those of
 * strangers.
 */
export const signInFrom = (visit: Visit, { isKnown }: { readonly isKnown: boolean }): SignInFrom => {
  const { request, origin } = visit
  return {
    client: passwordClient(visit, isKnown),
    address: origin.clientAddress,
    browser: browserName(request.headers.get('user-agent')),
    deviceSecret: readCookie(request.headers, 'device', origin.trust),
    sessionSecret: readCookie(request.headers, 'session', origin.trust),
  }
}

/** Begin the session, end the visitor's cookie, and make the browser known. */
export const sessionCookies = (
  { origin, nowMs }: Visit,
  { sessionSecret, deviceSecret, session }: SignedIn,
): readonly string[] => [
  cookieText({ kind: 'session', value: sessionSecret, ageMs: session.expiresAt - nowMs }, origin.trust),
  cookieText({ kind: 'device', value: deviceSecret, ageMs: deviceMsMax }, origin.trust),
  cookieText({ kind: 'visitor', value: '', ageMs: 0 }, origin.trust),
]

/** Ends the session that the visit came with. */
export const signOut = async ({ core }: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const ended = await core.operators.signOut(visit.session.secret, visit.requestId)
  if (!ended.ok) {
    const back = { href: paths.cellars, words: 'You are still signed in' }
    return refusedPage(visit, ended.refusal, { back, again: () => '' })
  }
  const gone = cookieText({ kind: 'session', value: '', ageMs: 0 }, visit.origin.trust)
  const answer = seeOther(visit, paths.signIn, { notice: 'signed_out', cookies: [gone] })
  answer.headers.set('Clear-Site-Data', clearedAtSignOut)
  return answer
}

/**
 * The browser deletes its cache, and what scripts have stored. Cookies stay: one marks the known browser, and one carries the
 * notice.
 */
const clearedAtSignOut = '"cache", "storage"'

type Shown = { readonly next: string; readonly faults?: Faults }

const signInPage = ({ core }: DashboardDeps, visit: Visit, { next, faults = noFaults }: Shown): JSX.Element => {
  const values = { email: visit.form('email') }
  return (
    <SignInPage
      shell={visit.shell}
      form={{ values, faults: placedFaults(values, faults) }}
      next={next}
      isFresh={core.projections.operators.list().length === 0}
    />
  )
}

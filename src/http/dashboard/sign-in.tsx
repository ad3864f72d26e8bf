import { paths } from '../../../views/paths.ts'
import { SignInPage } from '../../../views/sign-in.tsx'
import { htmlPage, refusedPage, seeOther } from './answers.tsx'
import { type Faults, noFaults, placedFaults } from './forms.ts'
import { safeNext } from './next-path.ts'
import { cookieText } from './session-cookie.ts'
import type { DashboardDeps, Route, SignedInVisit, Visit } from './visit.ts'

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

/** What was tried is counted before the password is looked at, so that many tries at once count as many. */
const signIn = async (deps: DashboardDeps, visit: Visit): Promise<Response> => {
  const { core, throttle } = deps
  const email = visit.form('email')
  const next = safeNext(visit.form('next'))
  const attempt = { email, address: visit.origin.clientAddress }
  const waitMs = throttle.attempt(attempt, visit.nowMs)
  if (waitMs !== null) return tooManyAttempts(deps, visit, waitMs)

  const opened = await core.operators.signIn({ email, password: visit.form('password') }, visit.requestId)
  if (!opened.ok) {
    const again = (faults: Faults) => signInPage(deps, visit, { next, faults })
    return refusedPage(visit, opened.refusal, { back: { href: paths.signIn, words: 'Back to sign-in' }, again })
  }
  throttle.succeeded(attempt, visit.nowMs)
  return seeOther(visit, next, { cookies: sessionCookies(visit, opened.value) })
}

type Opened = { readonly sessionSecret: string; readonly session: { readonly expiresAt: number } }

/** The session begins, and what stood in for it before ends. */
export const sessionCookies = (visit: Visit, { sessionSecret, session }: Opened): readonly string[] => {
  const { trust } = visit.origin
  return [
    cookieText({ kind: 'session', value: sessionSecret, ageMs: session.expiresAt - visit.nowMs }, trust),
    cookieText({ kind: 'visitor', value: '', ageMs: 0 }, trust),
  ]
}

const signOut = async ({ core }: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const ended = await core.operators.signOut(visit.session.secret, visit.requestId)
  if (!ended.ok) {
    const back = { href: paths.cellars, words: 'You are still signed in' }
    return refusedPage(visit, ended.refusal, { back, again: () => '' })
  }
  const gone = cookieText({ kind: 'session', value: '', ageMs: 0 }, visit.origin.trust)
  return seeOther(visit, paths.signIn, { notice: 'signed_out', cookies: [gone] })
}

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

const tooManyAttempts = async (deps: DashboardDeps, visit: Visit, waitMs: number): Promise<Response> => {
  const minutes = Math.ceil(waitMs / 60_000)
  const wait = `Wait ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}, then try again.`
  const faults = { form: `Too many attempts for this account or from this address. ${wait}` }
  const answer = await htmlPage(visit, signInPage(deps, visit, { next: safeNext(visit.form('next')), faults }), 429)
  answer.headers.set('Retry-After', String(Math.ceil(waitMs / 1_000)))
  return answer
}

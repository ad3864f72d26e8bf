import { OpenFormPage, SignInPage } from '../../../../views/operators/sign-in-page.tsx'
import { paths } from '../../../../views/paths.ts'
import type { SignedIn } from '../../../actors/core-interface.ts'
import { knownBrowser, signInFrom } from '../door/browser.ts'
import { cookieText, signedInCookies } from '../door/cookies.ts'
import { csrfToken } from '../door/csrf.ts'
import { tooManyAttempts, withPasswordAttempt } from '../door/password-attempt.ts'
import { keptFormOf } from '../forms/kept-form.ts'
import { shownNotice } from '../notice.ts'
import { type Faults, htmlPage, noFaults, placedFaults, refusedPage, seeOther } from '../page-answers.tsx'
import type { DashboardDeps, SignedInVisit, Visit } from '../visit.ts'

export const showSignIn = (deps: DashboardDeps, visit: Visit): Response | Promise<Response> => {
  const next = safeNext(visit.query.get('next') ?? '')
  if (visit.session !== null) return seeOther(visit, next)
  return htmlPage(visit, signInPage(deps, visit, { next }))
}

export const signIn = async (deps: DashboardDeps, visit: Visit): Promise<Response> => {
  const { core } = deps
  const email = visit.form('email').trim().toLowerCase()
  const next = safeNext(visit.form('next'))
  const isAccount = core.projections.operators.get(email) !== null
  const device = knownBrowser(deps, visit, email)
  const wrong = isAccount ? 'wrong_password' : 'no_such_account'
  const input = { email, password: visit.form('password') }
  const from = signInFrom(visit, { isKnown: device !== null })
  const opened = await withPasswordAttempt(deps, { visit, email, isAccount, device, wrong }, () =>
    core.operators.signIn(input, from, visit.requestId),
  )
  const kept = visit.form('kept')
  const again = (faults: Faults) => signInPage(deps, visit, { next, kept, faults })
  if ('waitMs' in opened) return tooManyAttempts(visit, opened.waitMs, again)
  if (opened.ok) return kept === '' ? intoDashboard(visit, opened.value, next) : backToForm(visit, opened.value)
  return refusedPage(visit, opened.refusal, { back: { href: paths.signIn, words: 'Back to sign-in' }, again })
}

/** If somebody else made a link for the account, the account page and its notice come first. */
export const intoDashboard = (visit: Visit, opened: SignedIn, next: string): Response => {
  const cookies = signedInCookies(visit, opened)
  if (opened.isToldOfLink) return seeOther(visit, paths.account, { notice: 'link_by_other', cookies })
  return seeOther(visit, next, { cookies })
}

const backToForm = (visit: Visit, opened: SignedIn): Response | Promise<Response> => {
  const { session, sessionSecret, isToldOfLink } = opened
  const { email, role } = session
  if (isToldOfLink && keptFormOf(visit.form('kept'), email) === null) return intoDashboard(visit, opened, paths.cellars)
  const cookies = signedInCookies(visit, opened)
  const notice = isToldOfLink ? shownNotice('link_by_other') : null
  const shell = { ...visit.shell, operator: { email, role }, csrf: csrfToken(sessionSecret, email), notice }
  return openKeptForm({ ...visit, cookies, shell }, email)
}

export const openKeptForm = (visit: Visit, email: string): Response | Promise<Response> => {
  const { shell, cookies } = visit
  const form = keptFormOf(visit.form('kept'), email)
  if (form === null) return seeOther(visit, paths.cellars, { notice: 'form_of_another', cookies })
  return htmlPage(visit, <OpenFormPage shell={shell} action={safeNext(form.path)} fields={form.fields} />)
}

export const signOut = async ({ core }: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const ended = await core.operators.signOut(visit.session.secret, visit.requestId)
  if (!ended.ok) {
    const back = { href: paths.cellars, words: 'Back to the cellars' }
    return refusedPage(visit, ended.refusal, { back, again: () => '' })
  }
  const deleted = cookieText({ kind: 'session', value: '', ageMs: 0 }, visit.origin.trust)
  const answer = seeOther(visit, paths.signIn, { notice: 'signed_out', cookies: [deleted] })
  answer.headers.set('Clear-Site-Data', clearedAtSignOut)
  return answer
}

/** Not cookies: `device` keeps the browser known, and `notice` tells the next page what to show. */
const clearedAtSignOut = '"cache", "storage"'

/**
 * Always on this site. Browsers treat `//host`, `/\host` and `/<tab>/host` as other sites. The URL parser reads such texts
 * as browsers do, so it decides. It turns `/..//host` into `//host`, so its result is checked again.
 */
export const safeNext = (text: string): string => {
  if (!text.startsWith('/')) return paths.cellars
  const url = URL.parse(text, nowhere)
  return url?.origin === nowhere && !url.pathname.startsWith('//') ? `${url.pathname}${url.search}` : paths.cellars
}

const nowhere = 'https://nowhere.invalid'

type Shown = { readonly next: string; readonly kept?: string; readonly faults?: Faults }

export const signInPage = (
  { core, web }: DashboardDeps,
  visit: Visit,
  { next, kept = '', faults = noFaults }: Shown,
): JSX.Element => {
  const values = { email: visit.form('email') }
  return (
    <SignInPage
      shell={visit.shell}
      form={{ values, faults: placedFaults(values, faults) }}
      next={next}
      kept={kept}
      isFresh={core.projections.operators.list().length === 0}
      program={web.program}
    />
  )
}

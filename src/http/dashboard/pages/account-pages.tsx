import { AccountPage } from '../../../../views/operators/account-page.tsx'
import { otherSessions } from '../../../../views/operators/open-sessions.tsx'
import { paths } from '../../../../views/paths.ts'
import type { SessionRow } from '../../../../views/types.ts'
import { answerOr } from '../../../actors/ask/answer-of.ts'
import { passwordCharsMin } from '../../../limits.ts'
import { signInFrom } from '../door/browser.ts'
import { signedInCookies } from '../door/cookies.ts'
import { tooManyAttempts, withOwnPassword } from '../door/password-attempt.ts'
import { type Back, type Faults, htmlPage, noFaults, refusedPage, seeOther } from '../page-answers.tsx'
import { askerOf, type DashboardDeps, type SignedInVisit } from '../visit.ts'
import { signOut } from './sign-in-pages.tsx'

export const showAccount = (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> =>
  htmlPage(visit, accountPage(deps, visit))

const back: Back = { href: paths.account, words: 'Back to your account' }

export const changePassword = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const ownPassword = visit.form('own_password')
  const newPassword = visit.form('password')
  const again = (faults: Faults): Promise<string> => accountPage(deps, visit, faults)
  if (ownPassword === '') return refusedPage(visit, { kind: 'own_password_needed' }, { back, again })
  const input = { sessionSecret: visit.session.secret, ownPassword, newPassword }
  const changed = await withOwnPassword(deps, visit, () =>
    deps.core.operators.changePassword(input, signInFrom(visit, { isKnown: true }), visit.requestId),
  )
  if ('waitMs' in changed) return tooManyAttempts(visit, changed.waitMs, again)
  if (!changed.ok) return refusedPage(visit, changed.refusal, { back, again })
  const cookies = signedInCookies(visit, changed.value)
  return seeOther(visit, paths.account, { notice: 'password_changed', cookies })
}

/** Any session id is safe: the core ends only sessions of this operator. */
export const endOwnSessions = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const { email, id, secret } = visit.session
  const ended = visit.form('session')
  if (ended === id) return signOut(deps, visit)
  const isOthers = ended === otherSessions
  const which = isOthers ? { allBut: secret } : { id: ended }
  const answer = await deps.core.operators.endSessions(email, which, askerOf(visit))
  const again = (faults: Faults): Promise<string> => accountPage(deps, visit, faults)
  if (!answer.ok) return refusedPage(visit, answer.refusal, { back, again })
  return seeOther(visit, paths.account, { notice: isOthers ? 'other_sessions_ended' : 'session_was_ended' })
}

/** @throws Outage if the store cannot answer. */
const accountPage = async (deps: DashboardDeps, visit: SignedInVisit, faults = noFaults): Promise<string> => {
  const { email } = visit.session
  const history = answerOr(
    await deps.core.questions.ask('signInHistory', email, { owner: email, isAtOnce: true }),
    null,
  )
  const sessions = await sessionRows(deps, visit)
  return (
    <AccountPage
      shell={visit.shell}
      email={email}
      sessions={sessions}
      history={history}
      form={{ values: noPasswords, faults }}
      passwordCharsMin={passwordCharsMin}
    />
  )
}

/** No page may contain a password. */
const noPasswords = { own_password: '', password: '' }

const sessionRows = async ({ core }: DashboardDeps, visit: SignedInVisit): Promise<readonly SessionRow[]> => {
  const { email } = visit.session
  const sessions = core.operators.openSessions(email).toReversed()
  const revisions = sessions.map(({ seenRevision }) => seenRevision).filter((revision) => revision !== null)
  const places = answerOr(await core.questions.ask('signInPlaces', revisions, { owner: email, isAtOnce: true }), null)
  const rows = sessions.map(({ id, startedAt, lastUsedAt, seenRevision, linkMadeBy }) => ({
    id,
    startedAt,
    lastUsedAt,
    place: seenRevision === null ? null : (places?.get(seenRevision) ?? null),
    linkMadeBy,
    isThis: id === visit.session.id,
  }))
  return rows.toSorted((a, b) => Number(b.isThis) - Number(a.isThis))
}

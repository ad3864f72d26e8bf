import type { CommandRefusal, Outcome } from '../../../domain/refusal.ts'
import { type Faults, htmlPage } from '../page-answers.tsx'
import { type DashboardDeps, refusedVisitor, type SignedInVisit, type Visit } from '../visit.ts'
import { knownBrowser } from './browser.ts'
import { type SignInReason, throttledReasons } from './refusal-traces.ts'
import type { ThrottledAttempt } from './sign-in-throttle.ts'

type Answer<T> = Outcome<T, CommandRefusal>

export type PasswordAttempt = {
  readonly visit: Visit
  readonly email: string
  readonly isAccount: boolean
  /** The result of `knownBrowser`. */
  readonly device: string | null
  readonly wrong: SignInReason
}

/** Counts before the password is compared. Otherwise many attempts at the same time could exceed the limit. */
export const withPasswordAttempt = async <T>(
  { throttle, traces }: DashboardDeps,
  { visit, email, isAccount, device, wrong }: PasswordAttempt,
  compare: () => Promise<Answer<T>>,
): Promise<Answer<T> | ThrottledAttempt> => {
  const trace = (reason: SignInReason): void =>
    traces.refused({ what: 'sign_in', reason, ...refusedVisitor(visit, isAccount ? email : null) })
  const counted = throttle.attempt({ email, isAccount, address: visit.origin.clientAddress, device }, visit.nowMs)
  if (!counted.isCounted) {
    trace(throttledReasons[counted.reason])
    return counted
  }
  const answer = await compare()
  if (answer.ok) throttle.succeeded(counted)
  else if (answer.refusal.kind === 'wrong_credentials' || answer.refusal.kind === 'wrong_own_password') trace(wrong)
  else throttle.takeBack(counted)
  if (!answer.ok && answer.refusal.kind === 'busy') trace('busy')
  return answer
}

/**
 * Own passwords of signed-in operators count, too. Otherwise somebody with a stolen session could guess the password
 * without a limit.
 */
export const withOwnPassword = <T>(
  deps: DashboardDeps,
  visit: SignedInVisit,
  compare: () => Promise<Answer<T>>,
): Promise<Answer<T> | ThrottledAttempt> => {
  const { email } = visit.session
  const device = knownBrowser(deps, visit, email)
  return withPasswordAttempt(deps, { visit, email, isAccount: true, device, wrong: 'wrong_own_password' }, compare)
}

export const tooManyAttempts = async (
  visit: Visit,
  waitMs: number,
  again: (faults: Faults) => JSX.Element,
): Promise<Response> => {
  const minutes = Math.ceil(waitMs / 60_000)
  const wait = `Wait ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}, then try again.`
  const form = `Too many password attempts for this account or from your network address. ${wait}`
  const answer = await htmlPage(visit, again({ form }), 429)
  answer.headers.set('Retry-After', String(Math.ceil(waitMs / 1_000)))
  return answer
}

import type { CommandRefusal, Outcome } from '../../domain/refusal.ts'
import { knownBrowser } from './known-browser.ts'
import type { ThrottledAttempt } from './sign-in-throttle.ts'
import { type SignInReason, throttledReasons, whoOf } from './traces.ts'
import type { DashboardDeps, SignedInVisit } from './visit.ts'

type Answer<T> = Outcome<T, CommandRefusal>

/**
 * Runs a command that compares the operator's own password. Whoever stole a session must not guess the password with it, so
 * attempts are counted like those to sign in, by the same counters.
 *
 * A wrong one is traced as a refused sign-in. So it stands in the sign-in history of the account, where its owner looks.
 */
export const withOwnPassword = async <T>(
  deps: DashboardDeps,
  visit: SignedInVisit,
  compare: () => Promise<Answer<T>>,
): Promise<Answer<T> | ThrottledAttempt> => {
  const { throttle, traces } = deps
  const { session, origin, nowMs } = visit
  const { email } = session
  const trace = (reason: SignInReason): void => traces.refused({ what: 'sign_in', reason, ...whoOf(visit, email) })

  const device = knownBrowser(deps, visit, email)
  const counted = throttle.attempt({ email, isAccount: true, address: origin.clientAddress, device }, nowMs)
  if (!counted.isCounted) {
    trace(throttledReasons[counted.reason])
    return counted
  }
  const answer = await compare()
  if (answer.ok) throttle.succeeded(counted)
  else if (answer.refusal.kind === 'wrong_own_password') trace('wrong_own_password')
  else throttle.takeBack(counted)
  if (!answer.ok && answer.refusal.kind === 'busy') trace('busy')
  return answer
}

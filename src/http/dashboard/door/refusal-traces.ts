import type { RefusedSignIn } from '../../../actors/core.ts'
import type { Schedule } from '../../../actors/schedule.ts'
import { operatorStream } from '../../../domain/stream-names.ts'
import { refusalLineCountersMax, refusalLineNamesMax, traceLineMs, traceLinesMax } from '../../../limits.ts'
import { networkOf } from '../../client-address.ts'
import { FrequentNames } from '../../ingest/frequent-names.ts'
import type { RequestLines } from '../../request-lines.ts'
import type { ThrottledAttempt } from './sign-in-throttle.ts'

/** Why a password was not accepted. `busy`: it was never compared. `wrong_own_password`: the person who guessed was signed in. */
export type SignInReason =
  | 'wrong_password'
  | 'wrong_own_password'
  | 'no_such_account'
  | 'too_many_for_account'
  | 'too_many_from_address'
  | 'too_many_from_browser'
  | 'busy'

/** Why a request was refused at the door. `role`: an auditor asked for what only admins may do. */
export type DoorReason = 'cross_site' | 'no_cookie' | 'form_token' | 'role'

/** The password was compared. */
const comparedReasons: ReadonlySet<SignInReason> = new Set(['wrong_password', 'wrong_own_password', 'no_such_account'])

/** By the counter that was full. */
export const throttledReasons: Readonly<Record<ThrottledAttempt['reason'], SignInReason>> = {
  account: 'too_many_for_account',
  address: 'too_many_from_address',
  device: 'too_many_from_browser',
}

export type RefusedVisitor = {
  /** Of an existing account; `null`: none. A text that is no account's e-mail may be a password in the wrong field. */
  readonly email: string | null
  readonly address: string
  readonly requestId: string
}

export type Refused = RefusedVisitor &
  (
    | { readonly what: 'sign_in'; readonly reason: SignInReason }
    | { readonly what: 'form'; readonly reason: DoorReason }
    | { readonly what: 'link'; readonly reason: 'link_wrong_or_spent' }
  )

/**
 * Log lines about refused sign-ins, forms and links. Anyone can cause them, so there are at most `traceLinesMax` a second. The
 * last of these sums up what was left out in the second before.
 *
 * A line never has an e-mail. It has the name of the account's stream in the log, which an operator can look up
 * (`cellarbook log read`), or `none`. It has no path, since the path of a link holds its secret.
 */
export class Traces {
  readonly #lines: RequestLines
  readonly #schedule: Schedule
  readonly #record: (refused: RefusedSignIn) => void
  #written = 0
  #leftOut = 0
  /** Bounded by the number of reasons. */
  readonly #reasons = new Map<string, number>()
  readonly #addresses = new FrequentNames(refusalLineCountersMax)
  #cancel: (() => void) | null = null

  /** `record` is told of every refused sign-in, also of those without a line of their own. */
  constructor(lines: RequestLines, schedule: Schedule, record: (refused: RefusedSignIn) => void) {
    this.#lines = lines
    this.#schedule = schedule
    this.#record = record
  }

  refused(refused: Refused): void {
    this.#trace(refused)
    if (refused.what !== 'sign_in') return
    const { email, reason, address } = refused
    this.#record({ email, address, reason: comparedReasons.has(reason) ? 'failed' : 'throttled' })
  }

  /** Writes the last sum, if there is something to tell. */
  close(): void {
    this.#cancel?.()
    if (this.#leftOut > 0) this.#writeSum()
  }

  #trace({ what, reason, email, address, requestId }: Refused): void {
    this.#cancel ??= this.#schedule.after(traceLineMs, () => this.#startAnew())
    if (this.#written < traceLinesMax) {
      this.#written += 1
      const account = email === null ? 'none' : operatorStream(email)
      this.#lines.warn(`${words[what]} refused`, { reason, account, address: shown(address), requestId })
      return
    }
    this.#leftOut += 1
    this.#reasons.set(reason, (this.#reasons.get(reason) ?? 0) + 1)
    this.#addresses.count(shown(networkOf(address)))
  }

  #startAnew(): void {
    this.#cancel = null
    this.#written = 0
    if (this.#leftOut === 0) return
    this.#writeSum()
    // The sum is a line of the second that begins now.
    this.#written = 1
    this.#cancel = this.#schedule.after(traceLineMs, () => this.#startAnew())
  }

  #writeSum(): void {
    this.#lines.warn('more sign-ins, forms and links refused', {
      refusals: this.#leftOut,
      reasons: Object.fromEntries(this.#reasons),
      addresses: this.#addresses.top(refusalLineNamesMax).map(([address, refusals]) => ({ address, refusals })),
    })
    this.#leftOut = 0
    this.#reasons.clear()
    this.#addresses.clear()
  }
}

const words: Readonly<Record<Refused['what'], string>> = { sign_in: 'sign-in', form: 'request', link: 'link' }

const shown = (address: string): string => (address === '' ? 'unknown' : address)

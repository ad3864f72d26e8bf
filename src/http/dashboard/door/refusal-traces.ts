import type { RefusedSignIn } from '../../../actors/core-interface.ts'
import { operatorStream } from '../../../domain/stream-names.ts'
import type { Schedule } from '../../../schedule.ts'
import { networkOf } from '../../client-address.ts'
import { refusalLineCountersMax, refusalLineNamesMax } from '../../http-bounds.ts'
import { FrequentNames } from '../../ingest/frequent-names.ts'
import type { RequestLines } from '../../request-lines.ts'
import type { TraceContext } from '../../trace-context.ts'
import type { ThrottledAttempt } from './sign-in-throttle.ts'

/** In each `traceLineMs`. The last sums up further refusals. */
export const traceLinesMax = 10
export const traceLineMs = 1_000

/** `busy`: too many passwords were waiting, so this one was not compared. `wrong_own_password`: of a signed-in operator. */
const signInReasons = [
  'wrong_password',
  'wrong_own_password',
  'no_such_account',
  'too_many_for_account',
  'too_many_from_address',
  'too_many_from_browser',
  'busy',
] as const
export type SignInReason = (typeof signInReasons)[number]

const doorReasons = ['cross_site', 'no_cookie', 'form_token', 'role'] as const
export type DoorReason = (typeof doorReasons)[number]

const refusalReasons = [...signInReasons, ...doorReasons, 'link_wrong_or_spent'] as const
export type RefusalReason = (typeof refusalReasons)[number]

const comparedReasons: ReadonlySet<SignInReason> = new Set(['wrong_password', 'wrong_own_password', 'no_such_account'])

export const throttledReasons: Readonly<Record<ThrottledAttempt['reason'], SignInReason>> = {
  account: 'too_many_for_account',
  address: 'too_many_from_address',
  device: 'too_many_from_browser',
}

export type RefusedVisitor = TraceContext & {
  /** An e-mail without an account must not reach the log: it can be a password in the wrong field. */
  readonly email: string | null
  readonly address: string
  readonly requestId: string
}

export type TracedRefusal = RefusedVisitor &
  (
    | { readonly what: 'sign_in'; readonly reason: SignInReason }
    | { readonly what: 'form'; readonly reason: DoorReason }
    | { readonly what: 'link'; readonly reason: 'link_wrong_or_spent' }
  )

/**
 * docs/decisions/019-bounded-lines-for-refusals.md. A line never contains the path of the request: that of a one-time link
 * contains its secret.
 */
export class Traces {
  readonly #lines: RequestLines
  readonly #schedule: Schedule
  readonly #record: (refused: RefusedSignIn) => void
  /** Of sign-ins, forms and links, by reason, since the start. From 0, so that Prometheus sees the first one increase it. */
  readonly counts = new Map<RefusalReason, number>(refusalReasons.map((reason) => [reason, 0]))
  #written = 0
  #leftOut = 0
  readonly #reasons = new Map<string, number>()
  readonly #addresses = new FrequentNames(refusalLineCountersMax)
  #cancel: (() => void) | null = null

  constructor(lines: RequestLines, schedule: Schedule, record: (refused: RefusedSignIn) => void) {
    this.#lines = lines
    this.#schedule = schedule
    this.#record = record
  }

  refused(refused: TracedRefusal): void {
    this.counts.set(refused.reason, (this.counts.get(refused.reason) ?? 0) + 1)
    this.#trace(refused)
    if (refused.what !== 'sign_in') return
    const { email, reason, address } = refused
    this.#record({ email, address, reason: comparedReasons.has(reason) ? 'failed' : 'throttled' })
  }

  close(): void {
    this.#cancel?.()
    if (this.#leftOut > 0) this.#writeSum()
  }

  #trace({ what, reason, email, address, ...ids }: TracedRefusal): void {
    this.#cancel ??= this.#schedule.after(traceLineMs, () => this.#startSecond())
    if (this.#written < traceLinesMax) {
      this.#written += 1
      const account = email === null ? 'none' : operatorStream(email)
      this.#lines.warn(`${subjects[what]} refused`, { reason, account, address: shown(address), ...ids })
      return
    }
    this.#leftOut += 1
    this.#reasons.set(reason, (this.#reasons.get(reason) ?? 0) + 1)
    this.#addresses.count(shown(networkOf(address)))
  }

  #startSecond(): void {
    this.#cancel = null
    this.#written = 0
    if (this.#leftOut === 0) return
    this.#writeSum()
    this.#written = 1
    this.#cancel = this.#schedule.after(traceLineMs, () => this.#startSecond())
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

const subjects: Readonly<Record<TracedRefusal['what'], string>> = { sign_in: 'sign-in', form: 'request', link: 'link' }

const shown = (address: string): string => (address === '' ? 'unknown' : address)

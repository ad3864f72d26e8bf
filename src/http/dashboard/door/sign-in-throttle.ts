import { signInAttemptsMax, signInSiteAttemptsMax, signInSubjectsMax, signInWindowMs } from '../../../limits.ts'
import { networkOf, siteOf } from '../../client-address.ts'

export type Attempt = {
  /** As it was typed. */
  readonly email: string
  /** Whether that e-mail has an account. */
  readonly isAccount: boolean
  readonly address: string
  /** Hash of a secret that this account gave to this browser earlier; `null`: the account does not know the browser. */
  readonly device: string | null
}

/** An attempt that was counted. The throttle takes it back by its identity, so taking it back twice changes nothing. */
export type CountedAttempt = { readonly isCounted: true; readonly atMs: number; readonly counts: readonly Count[] }

export type ThrottledAttempt = {
  readonly isCounted: false
  readonly waitMs: number
  /** The counter that is full. `account`: also that of an e-mail without an account. */
  readonly reason: 'account' | 'address' | 'device'
}

type Count = {
  readonly table: Attempts
  readonly subject: string
  readonly reason: ThrottledAttempt['reason']
}

/**
 * Counts attempts to enter a password, in memory, on this node alone: several nodes allow as many attempts each. All counts are of
 * the last 15 minutes.
 *
 * - An account has a counter. It is never dropped: there are only as many counters as accounts.
 * - An e-mail without an account has the same counter with the same limit, in a table of its own. So an answer does not tell
 *   whether an account exists, and strangers who invent e-mails drop only each other's counters.
 * - An address has a counter, and an IPv6 address one for its /64 and one for its /48. So one /48 adds at most
 *   `signInSiteAttemptsMax` entries to any table.
 * - A browser that the account knows has a counter of its own instead of all these: guesses of strangers do not lock it out,
 *   even from behind the same address.
 *
 * Strangers can keep an account locked for browsers that it does not know. A one-time link is the way past that.
 */
export class SignInThrottle {
  readonly #accounts = new Attempts({ attemptsMax: signInAttemptsMax, subjectsMax: null })
  readonly #devices = new Attempts({ attemptsMax: signInAttemptsMax, subjectsMax: null })
  readonly #unknownEmails: Attempts
  readonly #networks: Attempts
  readonly #sites: Attempts

  constructor(subjectsMax: number = signInSubjectsMax) {
    this.#unknownEmails = new Attempts({ attemptsMax: signInAttemptsMax, subjectsMax })
    this.#networks = new Attempts({ attemptsMax: signInAttemptsMax, subjectsMax })
    this.#sites = new Attempts({ attemptsMax: signInSiteAttemptsMax, subjectsMax })
  }

  /** Counters in use. */
  get size(): number {
    const tables = [this.#accounts, this.#devices, this.#unknownEmails, this.#networks, this.#sites]
    return tables.reduce((sum, { size }) => sum + size, 0)
  }

  /** Counts the attempt, before the password is looked at. If a counter is full, nothing is counted. */
  attempt(attempt: Attempt, nowMs: number): CountedAttempt | ThrottledAttempt {
    const counts = this.#countsOf(attempt)
    const waits = counts.map(({ table, subject }) => table.waitMs(subject, nowMs))
    const waitMs = Math.max(...waits)
    const longest = counts[waits.indexOf(waitMs)]
    if (longest !== undefined && waitMs > 0) return { isCounted: false, waitMs, reason: longest.reason }
    const counted: CountedAttempt = { isCounted: true, atMs: nowMs, counts }
    for (const { table, subject } of counts) table.note(subject, counted)
    return counted
  }

  /**
   * The password was right. So earlier attempts at the account, or of its known browser, were typing errors and are forgotten.
   * The address gets back this attempt only. So an office behind one address can sign in, and nobody gains guesses at other
   * accounts by signing in to their own.
   */
  succeeded(counted: CountedAttempt): void {
    for (const { table, subject, reason } of counted.counts) {
      if (reason === 'address') table.takeBack(subject, counted)
      else table.forget(subject)
    }
  }

  /** The password was never compared, because the service was busy or the store was away. */
  takeBack(counted: CountedAttempt): void {
    for (const { table, subject } of counted.counts) table.takeBack(subject, counted)
  }

  #countsOf({ email, isAccount, address, device }: Attempt): readonly Count[] {
    const account = email.trim().toLowerCase()
    if (isAccount && device !== null) {
      return [{ table: this.#devices, subject: `${account} ${device}`, reason: 'device' }]
    }
    const site = siteOf(address)
    const network = networkOf(address)
    return [
      isAccount
        ? { table: this.#accounts, subject: account, reason: 'account' }
        : { table: this.#unknownEmails, subject: shortened(account), reason: 'account' },
      { table: this.#networks, subject: network, reason: 'address' },
      ...(site === network ? [] : [{ table: this.#sites, subject: site, reason: 'address' as const }]),
    ]
  }
}

/** The typed text may be long. Two texts with the same digest share a counter, which harms no account. */
const shortened = (text: string): string => Bun.hash(text).toString(36)

type Bounds = {
  readonly attemptsMax: number
  /** `null`: the number of accounts bounds them. */
  readonly subjectsMax: number | null
}

/** Attempts of the window by subject, oldest first. A full table drops the subject whose last attempt is the oldest. */
class Attempts {
  /** In the order of the last attempt. */
  readonly #attempts = new Map<string, readonly CountedAttempt[]>()
  readonly #bounds: Bounds

  constructor(bounds: Bounds) {
    this.#bounds = bounds
  }

  get size(): number {
    return this.#attempts.size
  }

  waitMs(subject: string, nowMs: number): number {
    const recent = this.#recent(subject, nowMs)
    const [oldest] = recent
    return oldest === undefined || recent.length < this.#bounds.attemptsMax ? 0 : oldest.atMs + signInWindowMs - nowMs
  }

  note(subject: string, counted: CountedAttempt): void {
    const recent = this.#recent(subject, counted.atMs)
    this.#attempts.delete(subject)
    this.#attempts.set(subject, [...recent, counted])
    this.#dropOld(counted.atMs)
  }

  takeBack(subject: string, counted: CountedAttempt): void {
    const others = (this.#attempts.get(subject) ?? []).filter((other) => other !== counted)
    if (others.length === 0) this.#attempts.delete(subject)
    else this.#attempts.set(subject, others)
  }

  forget(subject: string): void {
    this.#attempts.delete(subject)
  }

  #recent(subject: string, nowMs: number): readonly CountedAttempt[] {
    return (this.#attempts.get(subject) ?? []).filter(({ atMs }) => isRecent(atMs, nowMs))
  }

  #dropOld(nowMs: number): void {
    const { subjectsMax } = this.#bounds
    for (const [subject, attempts] of this.#attempts) {
      const hasRoom = subjectsMax === null || this.#attempts.size <= subjectsMax
      if (hasRoom && isRecent(attempts.at(-1)?.atMs ?? 0, nowMs)) return
      this.#attempts.delete(subject)
    }
  }
}

const isRecent = (atMs: number, nowMs: number): boolean => atMs > nowMs - signInWindowMs

/**
 * docs/decisions/022-a-flood-of-sign-ins-keeps-nobody-out.md. Accounts have a table without a maximum, so a flood never
 * removes the counter of an account. An IPv6 address counts for its /64 and its /48: one /48 could fill the table with its
 * 65,536 networks. Strangers can lock an account for unknown browsers; a one-time link still works then.
 */
import { networkOf, siteOf } from '../../client-address.ts'

/** In `signInWindowMs`, for one account, known browser, IPv4 address or IPv6 /64. */
export const signInAttemptsMax = 10
/** From one IPv6 /48, which can belong to thousands of customers. */
export const signInSiteAttemptsMax = 40
export const signInWindowMs = 15 * 60_000
/** In each table but that of the accounts. */
export const signInSubjectsMax = 10_000

export type Attempt = {
  readonly email: string
  readonly isAccount: boolean
  readonly address: string
  readonly device: string | null
}

/** `takeBack` removes exactly this object. With plain numbers, taking back one attempt twice would remove another. */
export type CountedAttempt = { readonly isCounted: true; readonly atMs: number; readonly counts: readonly Count[] }

export type ThrottledAttempt = {
  readonly isCounted: false
  readonly waitMs: number
  /** `account` also stands for an e-mail without an account. */
  readonly reason: 'account' | 'address' | 'device'
}

type Count = {
  readonly table: Attempts
  readonly subject: string
  readonly reason: ThrottledAttempt['reason']
}

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

  get size(): number {
    const tables = [this.#accounts, this.#devices, this.#unknownEmails, this.#networks, this.#sites]
    return tables.reduce((sum, { size }) => sum + size, 0)
  }

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
   * Earlier attempts for this account or browser were typing errors. The address loses only this one: an attacker could
   * reset its counter by signing in to an own account.
   */
  succeeded(counted: CountedAttempt): void {
    for (const { table, subject, reason } of counted.counts) {
      if (reason === 'address') table.takeBack(subject, counted)
      else table.forget(subject)
    }
  }

  /** An attempt whose password was never compared was no guess. */
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

/** An e-mail can be long. Neither of two with the same hash has an account, so sharing a counter harms nobody. */
const shortened = (text: string): string => Bun.hash(text).toString(36)

type Bounds = {
  readonly attemptsMax: number
  /** `null`: the accounts and their known browsers already bound the table. */
  readonly subjectsMax: number | null
}

class Attempts {
  /** In the order of their last attempts, so `#dropOld` stops at the first recent subject. */
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

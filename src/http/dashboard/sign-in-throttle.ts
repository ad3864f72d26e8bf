import { signInAttemptsMax, signInSubjectsMax, signInWindowMs } from '../../limits.ts'
import { networkOf } from '../client-address.ts'

export type Attempt = { readonly email: string; readonly address: string }

/**
 * Attempts to sign in, counted per account and per address: the one against many guesses at one password, the other against
 * one guess at many accounts. In memory only, and bounded: whoever tried longest ago is forgotten first.
 *
 * An account can be kept locked by a stranger's guesses; a one-time link (`cellarbook operator link --email …`) is the way past that.
 */
export class SignInThrottle {
  /** Times of the attempts in the window, ms, oldest first. */
  readonly #attempts = new Map<string, readonly number[]>()

  constructor(readonly subjectsMax: number = signInSubjectsMax) {}

  /** Counts an attempt, before the password is looked at. Answers ms to wait if there were too many, and counts nothing then. */
  attempt({ email, address }: Attempt, now: number): number | null {
    const subjects = [accountOf(email), addressOf(address)]
    const waits = subjects.map((subject) => this.#waitMs(subject, now))
    const waitMs = Math.max(...waits)
    if (waitMs > 0) return waitMs
    for (const subject of subjects) this.#note(subject, now)
    return null
  }

  /**
   * The right password was given in the attempt of that time. To the account, what came before was its owner's mistyping. From
   * its address that one attempt is taken back, so that an office behind one address may sign in; the others stay, so
   * that nobody wins guesses at other accounts by signing in to their own in between.
   */
  succeeded({ email, address }: Attempt, at: number): void {
    this.#attempts.delete(accountOf(email))
    const subject = addressOf(address)
    const times = this.#attempts.get(subject) ?? []
    const index = times.lastIndexOf(at)
    if (index < 0) return
    if (times.length === 1) this.#attempts.delete(subject)
    else this.#attempts.set(subject, times.toSpliced(index, 1))
  }

  #recent(subject: string, now: number): readonly number[] {
    return (this.#attempts.get(subject) ?? []).filter((at) => at > now - signInWindowMs)
  }

  #waitMs(subject: string, now: number): number {
    const recent = this.#recent(subject, now)
    const [oldest] = recent
    return oldest === undefined || recent.length < signInAttemptsMax ? 0 : oldest + signInWindowMs - now
  }

  #note(subject: string, now: number): void {
    const recent = this.#recent(subject, now)
    this.#attempts.delete(subject)
    this.#attempts.set(subject, [...recent, now])
    if (this.#attempts.size <= this.subjectsMax) return
    for (const longestAgo of this.#attempts.keys()) {
      this.#attempts.delete(longestAgo)
      return
    }
  }
}

/** By digest, so that a long text takes no more memory than a short one. */
const accountOf = (email: string): string => `account ${Bun.hash(email.trim().toLowerCase()).toString(36)}`

const addressOf = (address: string): string => `address ${networkOf(address)}`

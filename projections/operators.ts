import type { RecordedEvent } from '../src/domain/events.ts'
import { evolveOperator, type OperatorEventType, type OperatorState } from '../src/domain/operator.ts'
import { evolveSetup, noSetup, type SetupEventType, type SetupState, setupLink } from '../src/domain/operator-setup.ts'
import { setupStream } from '../src/domain/streams.ts'
import { isNext } from './next-revision.ts'
import type { IssuedLink, OpenSession, OperatorAccount, OperatorQueries } from './queries.ts'

/** Operators, their sessions and links, and the set-up links that belong to nobody yet. */
export class OperatorsFold implements OperatorQueries {
  readonly #byStream = new Map<string, OperatorState>()
  readonly #byEmail = new Map<string, OperatorState>()
  readonly #streamOfSession = new Map<string, string>()
  readonly #streamOfLink = new Map<string, string>()
  #setup: SetupState = noSetup

  foldSetup(event: RecordedEvent<SetupEventType>): void {
    if (isNext(this.#setup.revision ?? -1, event)) this.#setup = evolveSetup(this.#setup, event)
  }

  fold(event: RecordedEvent<OperatorEventType>): void {
    const { stream } = event
    const before = this.#byStream.get(stream) ?? null
    if (!isNext(before?.revision ?? -1, event)) return
    const after = evolveOperator(before, event)
    this.#byStream.set(stream, after)
    this.#byEmail.set(after.email.toLowerCase(), after)
    for (const { sessionHash } of before?.sessions ?? []) this.#streamOfSession.delete(sessionHash)
    for (const { sessionHash } of after.sessions) this.#streamOfSession.set(sessionHash, stream)
    for (const { linkHash } of before?.links ?? []) this.#streamOfLink.delete(linkHash)
    for (const { linkHash } of after.links) this.#streamOfLink.set(linkHash, stream)
  }

  get(email: string): OperatorAccount | null {
    const operator = this.#byEmail.get(email.toLowerCase())
    return operator === undefined ? null : accountOf(operator)
  }

  list(): readonly OperatorAccount[] {
    return [...this.#byEmail.values()]
      .map(accountOf)
      .filter((account) => account !== null)
      .sort((a, b) => (a.email < b.email ? -1 : 1))
  }

  session(sessionHash: string, now: number): OpenSession | null {
    const operator = this.#byStream.get(this.#streamOfSession.get(sessionHash) ?? '')
    const session = operator?.sessions.find((one) => one.sessionHash === sessionHash)
    if (!operator?.account || session === undefined || now >= session.expiresAt) return null
    return { email: operator.email, role: operator.account.role, expiresAt: session.expiresAt }
  }

  link(linkHash: string, now: number): IssuedLink | null {
    const stream = this.#streamOfLink.get(linkHash)
    if (stream === undefined) return this.#setupLink(linkHash, now)
    const operator = this.#byStream.get(stream)
    const link = operator?.links.find((one) => one.linkHash === linkHash)
    if (operator === undefined || link === undefined || now >= link.expiresAt) return null
    return { stream, email: operator.email, role: link.role, expiresAt: link.expiresAt }
  }

  /** One that was spent still works for its e-mail until that operator is there: the second of two appends may be missing. */
  #setupLink(linkHash: string, now: number): IssuedLink | null {
    const link = setupLink(this.#setup, linkHash, now)
    if (link === null || (link.email !== null && this.get(link.email) !== null)) return null
    return { stream: setupStream, email: link.email, role: link.role, expiresAt: link.expiresAt }
  }
}

const accountOf = ({ email, account, revision }: OperatorState): OperatorAccount | null =>
  account === null ? null : { email, ...account, revision }

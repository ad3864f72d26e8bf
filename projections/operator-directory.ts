import { BoundedMap } from '../src/domain/bounded-map.ts'
import type { RecordedEvent, Role } from '../src/domain/events.ts'
import { isExpired } from '../src/domain/expiry.ts'
import {
  evolveOperator,
  type OperatorAccountState,
  type OperatorEventType,
  type OperatorSession,
  type OperatorState,
} from '../src/domain/operator.ts'
import { evolveSetup, noSetup, type SetupEventType, type SetupState, setupLink } from '../src/domain/operator-setup.ts'
import { setupStream } from '../src/domain/stream-names.ts'
import { isNext } from './next-revision.ts'

/** Pages never show `passwordHash`. */
export type OperatorAccount = OperatorAccountState & { readonly email: string; readonly revision: number }

export type Invitation = {
  readonly email: string
  /** The role of the open links. */
  readonly role: Role
  readonly expiresAt: number
}

export type OpenSession = OperatorSession & { readonly email: string; readonly role: Role }

export type IssuedLink = {
  readonly stream: string
  readonly email: string | null
  readonly role: Role
  readonly expiresAt: number
}

/** Ended sessions that stay in memory (100 KB), so that a page of an ended session is told to stop asking for updates. */
export const endedSessionsMax = 1_000

export class OperatorDirectory {
  readonly #byStream = new Map<string, OperatorState>()
  readonly #byEmail = new Map<string, OperatorState>()
  readonly #streamOfSession = new Map<string, string>()
  /**
   * Without this list, an ended session would look like one that another node began a moment ago: `#streamOfSession`
   * contains neither.
   */
  readonly #ended = new BoundedMap<string, true>(endedSessionsMax)
  readonly #streamOfLink = new Map<string, string>()
  #setup: SetupState = noSetup

  foldSetup(event: RecordedEvent<SetupEventType>): void {
    if (isNext(this.#setup.revision ?? -1, event)) this.#setup = evolveSetup(this.#setup, event)
  }

  fold(event: RecordedEvent<OperatorEventType>): void {
    const { stream } = event
    const before = this.#byStream.get(stream) ?? null
    if (!isNext(before?.revision ?? -1, event)) return
    this.#put(stream, evolveOperator(before, event))
  }

  /** Of an operator's stream, or of the stream of set-up links. */
  lastRevision(stream: string): number | null {
    if (stream === setupStream) return this.#setup.revision
    return this.#byStream.get(stream)?.revision ?? null
  }

  emailOf(stream: string): string | null {
    return this.#byStream.get(stream)?.email ?? null
  }

  get(email: string): OperatorAccount | null {
    const operator = this.#byEmail.get(email.toLowerCase())
    return operator === undefined ? null : accountOf(operator)
  }

  list(): readonly OperatorAccount[] {
    return [...this.#byEmail.values()]
      .map(accountOf)
      .filter((account) => account !== null)
      .sort(byEmail)
  }

  invitations(now: number): readonly Invitation[] {
    return [...this.#byEmail.values()]
      .map((operator) => invitationOf(operator, now))
      .filter((invitation) => invitation !== null)
      .sort(byEmail)
  }

  wasRemoved(email: string): boolean {
    const operator = this.#byEmail.get(email.toLowerCase())
    return operator?.account === null && operator.wasAdded
  }

  /** The caller must also check `idleAt`, when an unused session ends. */
  session(sessionHash: string, now: number): OpenSession | null {
    const operator = this.#byStream.get(this.#streamOfSession.get(sessionHash) ?? '')
    const session = operator?.sessions.find((one) => one.sessionHash === sessionHash)
    if (!operator?.account || session === undefined || isExpired(session, now)) return null
    return { ...session, email: operator.email, role: operator.account.role }
  }

  /** An operator signed in from this browser, and the password has not been set again since. */
  isDevice(deviceHash: string): boolean {
    return [...this.#byStream.values()].some(({ account }) => account?.devices.includes(deviceHash))
  }

  sessions(email: string, now: number): readonly OperatorSession[] {
    return (this.#byEmail.get(email.toLowerCase())?.sessions ?? []).filter((session) => !isExpired(session, now))
  }

  /**
   * False for an unknown session, because another node can have begun it a moment ago. Only the last `endedSessionsMax`
   * ended sessions are remembered.
   */
  isSessionOver(sessionHash: string, now: number): boolean {
    if (this.#ended.has(sessionHash)) return true
    return this.#streamOfSession.has(sessionHash) && this.session(sessionHash, now) === null
  }

  /** `null`: the link cannot be used at `now`. */
  link(linkHash: string, now: number): IssuedLink | null {
    const stream = this.#streamOfLink.get(linkHash)
    if (stream === undefined) return this.#setupLink(linkHash, now)
    const operator = this.#byStream.get(stream)
    const link = operator?.links.find((one) => one.linkHash === linkHash)
    if (operator === undefined || link === undefined || isExpired(link, now)) return null
    return { stream, email: operator.email, role: link.role, expiresAt: link.expiresAt }
  }

  #put(stream: string, operator: OperatorState): void {
    const before = this.#byStream.get(stream)
    this.#byStream.set(stream, operator)
    this.#byEmail.set(operator.email.toLowerCase(), operator)
    for (const { sessionHash } of before?.sessions ?? []) this.#streamOfSession.delete(sessionHash)
    for (const { sessionHash } of operator.sessions) this.#streamOfSession.set(sessionHash, stream)
    for (const { sessionHash } of before?.sessions ?? []) {
      if (!this.#streamOfSession.has(sessionHash)) this.#ended.set(sessionHash, true)
    }
    for (const { linkHash } of before?.links ?? []) this.#streamOfLink.delete(linkHash)
    for (const { linkHash } of operator.links) this.#streamOfLink.set(linkHash, stream)
  }

  /**
   * A used setup link works again for the same e-mail until `OperatorAdded` is written, because a node can die before that.
   */
  #setupLink(linkHash: string, now: number): IssuedLink | null {
    const link = setupLink(this.#setup, linkHash, now)
    if (link === null || (link.email !== null && this.#byEmail.get(link.email)?.wasAdded === true)) return null
    return { stream: setupStream, email: link.email, role: link.role, expiresAt: link.expiresAt }
  }
}

const accountOf = ({ email, account, revision }: OperatorState): OperatorAccount | null =>
  account === null ? null : { ...account, email, revision }

const invitationOf = ({ email, account, links }: OperatorState, now: number): Invitation | null => {
  const open = links.filter((link) => !isExpired(link, now))
  if (account !== null || open.length === 0) return null
  const role = open.some((link) => link.role === 'admin') ? 'admin' : 'auditor'
  return { email, role, expiresAt: Math.max(...open.map((link) => link.expiresAt)) }
}

const byEmail = (a: { readonly email: string }, b: { readonly email: string }): number => (a.email < b.email ? -1 : 1)

import type { OpenSession } from '../../../projections/operator-directory.ts'
import { BoundedMap } from '../../domain/bounded-map.ts'
import { isExpired } from '../../domain/expiry.ts'
import { type OperatorSession, sessionIdOf } from '../../domain/operator.ts'
import { type CommandRefusal, done, type Outcome } from '../../domain/refusal.ts'
import { operatorStream } from '../../domain/stream-names.ts'
import type { ActorContext } from '../actor-context.ts'
import type { Asker, Session, SignIns } from '../core-interface.ts'
import { busy, type Registry } from '../registry.ts'
import type { OperatorActor } from './operator-actor.ts'
import { hashOf } from './operator-secrets.ts'

/** A used session is renewed at most once in a fourth of its idle time, because each renewal is an event. */
export const sessionRenewalDivisor = 4
const sessionUsesMax = 10_000

/** Only some uses are written (`OperatorSessionRenewed`). Other nodes and the next start know the session by them. */
export class Sessions {
  readonly #context: ActorContext
  readonly #operators: Registry<OperatorActor>
  readonly #idleMs: number
  readonly #lastUsedAt = new BoundedMap<string, number>(sessionUsesMax)
  readonly #renewing = new Set<string>()

  constructor(context: ActorContext, operators: Registry<OperatorActor>, idleMs: number) {
    this.#context = context
    this.#operators = operators
    this.#idleMs = idleMs
  }

  find(sessionSecret: string): OpenSession | null {
    const now = this.#context.clock.now()
    const session = this.#unexpired(sessionSecret, now)
    return session !== null && this.#isOpen(session, now) ? session : null
  }

  isOver(sessionSecret: string): boolean {
    const now = this.#context.clock.now()
    const session = this.#unexpired(sessionSecret, now)
    if (session !== null) return !this.#isOpen(session, now)
    return this.#context.projections.operators.isSessionOver(hashOf(sessionSecret), now)
  }

  list(email: string): ReturnType<SignIns['openSessions']> {
    const now = this.#context.clock.now()
    const { operators } = this.#context.projections
    const role = operators.get(email)?.role
    if (role === undefined) return []
    const open = operators.sessions(email, now).filter((session) => this.#isOpen(session, now))
    return open.map((session) => {
      const lastUsedAt = this.#lastUsedAt.get(session.sessionHash) ?? null
      return { ...shownSession({ ...session, email, role }), lastUsedAt }
    })
  }

  use(sessionSecret: string): void {
    const session = this.find(sessionSecret)
    if (session === null) return
    const now = this.#context.clock.now()
    this.#lastUsedAt.set(session.sessionHash, now)
    const idleAt = this.idleAt(now, session.expiresAt)
    // If this fails, the next use of the session tries again.
    if (idleAt - session.idleAt >= this.#idleMs / sessionRenewalDivisor) void this.#renew(session, idleAt)
  }

  idleAt(now: number, expiresAt: number): number {
    return Math.min(now + this.#idleMs, expiresAt)
  }

  async signOut(sessionSecret: string, requestId: string): Promise<Outcome<null, CommandRefusal>> {
    const session = this.#unexpired(sessionSecret, this.#context.clock.now())
    if (session === null) return done(null)
    const command = { type: 'SignOut', sessionHash: session.sessionHash } as const
    const actor = this.#operators.get(operatorStream(session.email))
    const ended = await (actor?.perform(command, askerIn(session, requestId)) ?? busy)
    return ended.ok ? done(null) : ended
  }

  #unexpired(sessionSecret: string, now: number): OpenSession | null {
    return this.#context.projections.operators.session(hashOf(sessionSecret), now)
  }

  #isOpen(session: OperatorSession, now: number): boolean {
    const usedAt = this.#lastUsedAt.get(session.sessionHash) ?? Number.NEGATIVE_INFINITY
    return !isExpired(session, now) && now < Math.max(session.idleAt, usedAt + this.#idleMs)
  }

  async #renew(session: OpenSession, idleAt: number): Promise<void> {
    const { email, sessionHash } = session
    if (this.#renewing.has(sessionHash)) return
    this.#renewing.add(sessionHash)
    const { clock, entropy } = this.#context
    try {
      const asker = askerIn(session, entropy.requestId(clock.now()))
      const actor = this.#operators.get(operatorStream(email))
      await actor?.perform({ type: 'RenewSession', sessionHash, idleAt }, asker)
    } finally {
      this.#renewing.delete(sessionHash)
    }
  }
}

export const shownSession = (session: OpenSession): Session => {
  const { email, role, startedAt, expiresAt, linkMadeBy, seenRevision } = session
  return { id: sessionIdOf(session), email, role, startedAt, expiresAt, linkMadeBy, seenRevision }
}

export const askerIn = (session: OpenSession, requestId: string): Asker => {
  const { email, linkMadeBy } = session
  return { by: { kind: 'operator', email, session: { id: sessionIdOf(session), linkMadeBy } }, requestId }
}

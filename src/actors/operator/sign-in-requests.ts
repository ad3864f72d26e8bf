/** Signing in, sessions, and changing one's own password. */
import type { OpenSession } from '../../../projections/queries.ts'
import { BoundedMap } from '../../domain/bounded-map.ts'
import { isExpired } from '../../domain/expiry.ts'
import { type EndedSessions, type OperatorSession, sessionIdOf } from '../../domain/operator.ts'
import { done, refused } from '../../domain/refusal.ts'
import { operatorStream } from '../../domain/stream-names.ts'
import { parseEmail, parsePassword } from '../../domain/text.ts'
import { linksToldMsMax, sessionMsMax, sessionRenewalDivisor, sessionUsesMax } from '../../limits.ts'
import { busy } from '../cellar/cellar-requests.ts'
import type { Asker, EndingSessions, Session, SignedIn, SignInFrom, SignIns } from '../core.ts'
import type { Host } from '../host.ts'
import type { Registry } from '../registry.ts'
import type { OperatorActor } from './operator-actor.ts'
import { hashOf, newSecret } from './operator-secrets.ts'
import type { Passwords } from './passwords.ts'
import { signInHistory, signInPlaces } from './sign-in-history.ts'
import type { SignInRecords } from './sign-in-records.ts'

type Actors = {
  readonly operators: Registry<OperatorActor>
  readonly passwords: Passwords
  readonly signInRecords: SignInRecords
}

export const createSignIns = (
  host: Host,
  { operators, passwords, signInRecords }: Actors,
  sessionIdleMs: number,
): SignIns => {
  const { clock, projections } = host
  const lastUsedMs = new BoundedMap<string, number>(sessionUsesMax)
  /** Hashes of the sessions whose renewal is under way. */
  const renewing = new Set<string>()
  const actorOf = (email: string): OperatorActor | null => operators.get(operatorStream(email))

  const isOpen = (session: OperatorSession, now: number): boolean => {
    const usedAt = lastUsedMs.get(session.sessionHash) ?? Number.NEGATIVE_INFINITY
    return !isExpired(session, now) && now < Math.max(session.idleAt, usedAt + sessionIdleMs)
  }

  const openSession = (sessionSecret: string) => {
    const now = clock.now()
    const session = projections.operators.session(hashOf(sessionSecret), now)
    return session !== null && isOpen(session, now) ? session : null
  }

  /** Makes the secrets and the event data of a new session. Its record is written first, so that no session lacks one. */
  const beginSession = async (email: string, from: SignInFrom, requestId: string) => {
    const sessionSecret = newSecret(host)
    const isKnownBrowser = from.deviceSecret !== null && projections.operators.isDevice(hashOf(from.deviceSecret))
    const deviceSecret = isKnownBrowser ? from.deviceSecret : newSecret(host)
    const now = clock.now()
    const session = {
      sessionHash: hashOf(sessionSecret),
      expiresAt: now + sessionMsMax,
      idleAt: Math.min(now + sessionIdleMs, now + sessionMsMax),
      deviceHash: hashOf(deviceSecret),
    }
    const sessionId = sessionIdOf(session)
    const linkMadeBy = projections.operators.get(email)?.passwordLinkMadeBy ?? null
    const { address, browser } = from
    const asker: Asker = { by: { kind: 'operator', email, session: { id: sessionId, linkMadeBy } }, requestId }
    const seen = await signInRecords.seen({ email, sessionId, address, browser }, asker)
    if (!seen.ok) return seen
    return done({ sessionSecret, deviceSecret, asker, session: { ...session, seenRevision: seen.value } })
  }

  const answerOf = ({ sessionSecret, deviceSecret }: { sessionSecret: string; deviceSecret: string }) => {
    const session = openSession(sessionSecret)
    if (session === null) return refused({ kind: 'not_confirmed' as const })
    const links = projections.operators.get(session.email)?.linksFromOthers ?? []
    const since = clock.now() - linksToldMsMax
    const isToldOfLink = links.some(({ madeAt, usedAt }) => Math.max(madeAt, usedAt ?? 0) > since)
    return done<SignedIn>({ sessionSecret, deviceSecret, session: shownSession(session), isToldOfLink })
  }

  const renew = async (session: OpenSession, idleAt: number): Promise<unknown> => {
    const { email, sessionHash } = session
    if (renewing.has(sessionHash)) return
    renewing.add(sessionHash)
    try {
      const asker = askerIn(session, host.entropy.uuid())
      return await actorOf(email)?.perform({ type: 'RenewSession', sessionHash, idleAt }, asker)
    } finally {
      renewing.delete(sessionHash)
    }
  }

  const signOut: SignIns['signOut'] = async (sessionSecret, requestId) => {
    const session = projections.operators.session(hashOf(sessionSecret), clock.now())
    if (session === null) return done(null)
    const { sessionHash } = session
    const ended = await (actorOf(session.email)?.perform(
      { type: 'SignOut', sessionHash },
      askerIn(session, requestId),
    ) ?? busy)
    return ended.ok ? done(null) : ended
  }

  return {
    signIn: async (input, from, requestId) => {
      const email = parseEmail(input.email)
      const account = email.ok ? projections.operators.get(email.value) : null
      const isRight = await passwords.matches(input.password, account?.passwordHash ?? null, from.client)
      if (!isRight.ok) return isRight
      if (account === null || !isRight.value) return refused({ kind: 'wrong_credentials' })
      const begun = await beginSession(account.email, from, requestId)
      if (!begun.ok) return begun
      const before =
        from.sessionSecret === null ? null : projections.operators.session(hashOf(from.sessionSecret), clock.now())
      const endsSessionHash = before?.email === account.email ? before.sessionHash : null
      const { passwordHash } = account
      const command = { type: 'SignIn', passwordHash, endsSessionHash, ...begun.value.session } as const
      const answer = await (actorOf(account.email)?.perform(command, begun.value.asker) ?? busy)
      if (!answer.ok) return answer
      // The browser held the session of another operator.
      if (from.sessionSecret !== null && endsSessionHash === null) await signOut(from.sessionSecret, requestId)
      return answerOf(begun.value)
    },

    changePassword: async (input, from, requestId) => {
      const session = openSession(input.sessionSecret)
      const account = session === null ? null : projections.operators.get(session.email)
      if (session === null || account === null) return refused({ kind: 'session_has_ended' })
      const password = parsePassword(input.newPassword)
      if (!password.ok) return password
      const isRight = await passwords.matches(input.ownPassword, account.passwordHash, from.client)
      if (!isRight.ok) return isRight
      if (!isRight.value) return refused({ kind: 'wrong_own_password' })
      const hashed = await passwords.hash({ email: account.email, password: password.value }, from.client)
      if (!hashed.ok) return hashed
      const begun = await beginSession(account.email, from, requestId)
      if (!begun.ok) return begun
      const { passwordHash: oldPasswordHash } = account
      const hashes = { inSessionHash: session.sessionHash, oldPasswordHash, passwordHash: hashed.value }
      const command = { type: 'ChangePassword', ...hashes, ...begun.value.session } as const
      const answer = await (actorOf(account.email)?.perform(command, askerIn(session, requestId)) ?? busy)
      return answer.ok ? answerOf(begun.value) : answer
    },

    session: (sessionSecret) => {
      const session = openSession(sessionSecret)
      return session === null ? null : shownSession(session)
    },

    isSessionOver: (sessionSecret) => {
      const sessionHash = hashOf(sessionSecret)
      const now = clock.now()
      const session = projections.operators.session(sessionHash, now)
      if (session === null) return projections.operators.isSessionOver(sessionHash, now)
      return !isOpen(session, now)
    },

    useSession: (sessionSecret) => {
      const session = openSession(sessionSecret)
      if (session === null) return
      const now = clock.now()
      lastUsedMs.set(session.sessionHash, now)
      const idleAt = Math.min(now + sessionIdleMs, session.expiresAt)
      // Nobody waits for the renewal: if it fails, the next use tries again.
      if (idleAt - session.idleAt >= sessionIdleMs / sessionRenewalDivisor) void renew(session, idleAt)
    },

    isKnownDevice: (email, deviceSecret) => {
      const address = parseEmail(email)
      const account = address.ok ? projections.operators.get(address.value) : null
      return account?.devices.includes(hashOf(deviceSecret)) === true
    },

    openSessions: (email) => {
      const now = clock.now()
      const role = projections.operators.get(email)?.role
      if (role === undefined) return []
      return projections.operators
        .sessions(email, now)
        .filter((session) => isOpen(session, now))
        .map((session) => ({
          ...shownSession({ ...session, email, role }),
          lastUsedAt: lastUsedMs.get(session.sessionHash) ?? null,
        }))
    },

    endSessions: async (email, which, asker) => {
      const answer = await (actorOf(email)?.perform({ type: 'EndSessions', which: endedBy(which) }, asker) ?? busy)
      return answer.ok ? done(null) : answer
    },

    signOut,
    signInRefused: (refusedSignIn) => signInRecords.refused(refusedSignIn),
    signInHistory: (email) => signInHistory(host.log, email),
    signInPlaces: (revisions) => signInPlaces(host.log, revisions),
  }
}

const shownSession = (session: OpenSession): Session => {
  const { email, role, startedAt, expiresAt, linkMadeBy, seenRevision } = session
  return { id: sessionIdOf(session), email, role, startedAt, expiresAt, linkMadeBy, seenRevision }
}

const askerIn = (session: OpenSession, requestId: string): Asker => {
  const { email, linkMadeBy } = session
  return { by: { kind: 'operator', email, session: { id: sessionIdOf(session), linkMadeBy } }, requestId }
}

const endedBy = (which: EndingSessions): EndedSessions =>
  'id' in which ? which : { allBut: which.allBut === null ? null : hashOf(which.allBut) }

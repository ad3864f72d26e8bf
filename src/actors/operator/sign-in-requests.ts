import { type EndedSessions, sessionIdOf } from '../../domain/operator.ts'
import { done, refused } from '../../domain/refusal.ts'
import { operatorStream } from '../../domain/stream-names.ts'
import { parseEmail, parsePassword } from '../../domain/text.ts'
import { sessionMsMax } from '../../limits.ts'
import type { ActorContext } from '../actor-context.ts'
import type { Asker, EndingSessions, SignedIn, SignInFrom, SignIns } from '../core-interface.ts'
import { busy, type Registry } from '../registry.ts'
import type { OperatorActor } from './operator-actor.ts'
import { deviceMadeAt, hashOf, newDeviceSecret, newSecret } from './operator-secrets.ts'
import type { Passwords } from './passwords.ts'
import { askerIn, Sessions, shownSession } from './sessions.ts'
import type { SignInRecords } from './sign-in-records.ts'

export const linksToldMsMax = 30 * 86_400_000

type Actors = {
  readonly operators: Registry<OperatorActor>
  readonly passwords: Passwords
  readonly signInRecords: SignInRecords
}

type Parts = Actors & { readonly context: ActorContext; readonly sessions: Sessions }

type Visit = { readonly from: SignInFrom; readonly requestId: string }

export const createSignIns = (context: ActorContext, actors: Actors, sessionIdleMs: number): SignIns => {
  const { operators, passwords, signInRecords } = actors
  const sessions = new Sessions(context, operators, sessionIdleMs)
  const parts: Parts = { context, operators, passwords, signInRecords, sessions }
  return {
    signIn: (input, from, requestId) => signIn(parts, input, { from, requestId }),
    changePassword: (input, from, requestId) => changePassword(parts, input, { from, requestId }),
    session: (sessionSecret) => {
      const session = sessions.find(sessionSecret)
      return session === null ? null : shownSession(session)
    },
    isSessionOver: (sessionSecret) => sessions.isOver(sessionSecret),
    useSession: (sessionSecret) => sessions.use(sessionSecret),
    signOut: (sessionSecret, requestId) => sessions.signOut(sessionSecret, requestId),
    isKnownDevice: (email, deviceSecret) => {
      const address = parseEmail(email)
      const account = address.ok ? context.projections.operators.get(address.value) : null
      return account?.devices.includes(hashOf(deviceSecret)) === true
    },
    openSessions: (email) => sessions.list(email),
    endSessions: async (email, which, asker) => {
      const command = { type: 'EndSessions', which: endedBy(which) } as const
      const answer = await (operators.get(operatorStream(email))?.perform(command, asker) ?? busy)
      return answer.ok ? done(null) : answer
    },
    signInRefused: (refusedSignIn) => signInRecords.refused(refusedSignIn),
  }
}

const signIn = async (
  parts: Parts,
  input: Parameters<SignIns['signIn']>[0],
  visit: Visit,
): ReturnType<SignIns['signIn']> => {
  const { context, operators, passwords, sessions } = parts
  const { client, sessionSecret } = visit.from
  const email = parseEmail(input.email)
  const account = email.ok ? context.projections.operators.get(email.value) : null
  const isRight = await passwords.matches(input.password, account?.passwordHash ?? null, client)
  if (!isRight.ok) return isRight
  if (account === null || !isRight.value) return refused({ kind: 'wrong_credentials' })
  const begun = await beginSession(parts, account.email, visit)
  if (!begun.ok) return begun
  const before =
    sessionSecret === null ? null : context.projections.operators.session(hashOf(sessionSecret), context.clock.now())
  const endsSessionHash = before?.email === account.email ? before.sessionHash : null
  const { passwordHash } = account
  const command = { type: 'SignIn', passwordHash, endsSessionHash, ...begun.value.session } as const
  const answer = await (operators.get(operatorStream(account.email))?.perform(command, begun.value.asker) ?? busy)
  if (!answer.ok) return answer
  // The browser can have had a session of another operator.
  if (sessionSecret !== null && endsSessionHash === null) await sessions.signOut(sessionSecret, visit.requestId)
  return answerOf(parts, begun.value)
}

const changePassword = async (
  parts: Parts,
  input: Parameters<SignIns['changePassword']>[0],
  visit: Visit,
): ReturnType<SignIns['changePassword']> => {
  const { context, operators, passwords, sessions } = parts
  const { client } = visit.from
  const session = sessions.find(input.sessionSecret)
  const account = session === null ? null : context.projections.operators.get(session.email)
  if (session === null || account === null) return refused({ kind: 'session_has_ended' })
  const password = parsePassword(input.newPassword)
  if (!password.ok) return password
  const isRight = await passwords.matches(input.ownPassword, account.passwordHash, client)
  if (!isRight.ok) return isRight
  if (!isRight.value) return refused({ kind: 'wrong_own_password' })
  const hashed = await passwords.hash({ email: account.email, password: password.value }, client)
  if (!hashed.ok) return hashed
  // A thief can have a copy of the browser's old secret.
  const begun = await beginSession(parts, account.email, { ...visit, from: { ...visit.from, deviceSecret: null } })
  if (!begun.ok) return begun
  const command = {
    type: 'ChangePassword',
    inSessionHash: session.sessionHash,
    oldPasswordHash: account.passwordHash,
    passwordHash: hashed.value,
    ...begun.value.session,
  } as const
  const actor = operators.get(operatorStream(account.email))
  const answer = await (actor?.perform(command, askerIn(session, visit.requestId)) ?? busy)
  return answer.ok ? answerOf(parts, begun.value) : answer
}

/** The record comes first: a crash must not leave a session without its record. */
const beginSession = async ({ context, signInRecords, sessions }: Parts, email: string, { from, requestId }: Visit) => {
  const { operators } = context.projections
  const sessionSecret = newSecret(context)
  const isKept = from.deviceSecret !== null && isKeptDevice(context, email, from.deviceSecret)
  const deviceSecret = isKept ? from.deviceSecret : newDeviceSecret(context)
  const now = context.clock.now()
  const session = {
    sessionHash: hashOf(sessionSecret),
    expiresAt: now + sessionMsMax,
    idleAt: sessions.idleAt(now, now + sessionMsMax),
    deviceHash: hashOf(deviceSecret),
  }
  const sessionId = sessionIdOf(session)
  const linkMadeBy = operators.get(email)?.passwordLinkMadeBy ?? null
  const { address, browser } = from
  const asker: Asker = { by: { kind: 'operator', email, session: { id: sessionId, linkMadeBy } }, requestId }
  const seen = await signInRecords.seen({ email, sessionId, address, browser }, asker)
  if (!seen.ok) return seen
  return done({ sessionSecret, deviceSecret, asker, session: { ...session, seenRevision: seen.value } })
}

/**
 * Operators who share a browser share its secret. A person who knew the old password can have a copy of a secret that is
 * older than the new password.
 */
const isKeptDevice = ({ projections: { operators } }: ActorContext, email: string, deviceSecret: string): boolean => {
  const account = operators.get(email)
  if (account === null) return false
  const deviceHash = hashOf(deviceSecret)
  if (account.devices.includes(deviceHash)) return true
  return operators.isDevice(deviceHash) && deviceMadeAt(deviceSecret) > account.passwordSetAt
}

type Secrets = { readonly sessionSecret: string; readonly deviceSecret: string }

const answerOf = ({ context, sessions }: Parts, { sessionSecret, deviceSecret }: Secrets) => {
  const session = sessions.find(sessionSecret)
  if (session === null) return refused({ kind: 'not_confirmed' as const })
  const links = context.projections.operators.get(session.email)?.linksFromOthers ?? []
  const since = context.clock.now() - linksToldMsMax
  const isToldOfLink = links.some(({ madeAt, usedAt }) => Math.max(madeAt, usedAt ?? 0) > since)
  return done<SignedIn>({ sessionSecret, deviceSecret, session: shownSession(session), isToldOfLink })
}

const endedBy = (which: EndingSessions): EndedSessions =>
  'id' in which ? which : { allBut: which.allBut === null ? null : hashOf(which.allBut) }

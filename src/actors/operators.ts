import { base62 } from '../domain/base62.ts'
import type { Role } from '../domain/events.ts'
import { type CommandRefusal, done, type Outcome, refused } from '../domain/refusal.ts'
import { operatorStream, setupStream } from '../domain/streams.ts'
import { parseEmail, parsePassword } from '../domain/text.ts'
import { linkMsMax, sessionMsMax } from '../limits.ts'
import { busy } from './cellars.ts'
import type { Asker, Operators } from './core.ts'
import type { Host } from './host.ts'
import type { OperatorActor, SetupActor } from './operator-actor.ts'
import type { Passwords } from './passwords.ts'
import type { Registry } from './registry.ts'

type Actors = {
  readonly operators: Registry<OperatorActor>
  readonly setup: Registry<SetupActor>
  readonly passwords: Passwords
}

const secretBytes = 32
const secretChars = 43

/** Links, accounts and sessions. The secrets of links and sessions are 256 bits; only their SHA-256 reaches the log. */
export const createOperators = (host: Host, { operators, setup, passwords }: Actors): Operators => {
  const { clock, projections } = host

  const spendSetupLink = async (
    input: { readonly linkHash: string; readonly email: string; readonly password: string },
    asker: Asker,
  ): Promise<Outcome<unknown, CommandRefusal>> => {
    const { linkHash, email, password } = input
    if (projections.operators.get(email) !== null) return refused({ kind: 'operator_exists' })
    if (projections.operators.wasRemoved(email)) return refused({ kind: 'operator_was_removed' })
    const hashed = await passwords.hash(password)
    if (!hashed.ok) return hashed
    const spent = await (setup.get(setupStream)?.perform({ type: 'SpendSetupLink', linkHash, email }, asker) ?? busy)
    if (!spent.ok) return spent
    const role = spent.value.spent?.role ?? 'admin'
    const command = { type: 'AddOperator', email, role, passwordHash: hashed.value } as const
    return operators.get(operatorStream(email))?.perform(command, asker) ?? busy
  }

  const spendOwnLink = async (
    input: { readonly linkHash: string; readonly email: string; readonly password: string },
    asker: Asker,
  ): Promise<Outcome<unknown, CommandRefusal>> => {
    const { linkHash, email, password } = input
    const hashed = await passwords.hash(password)
    if (!hashed.ok) return hashed
    const command = { type: 'SpendOperatorLink', email, linkHash, passwordHash: hashed.value } as const
    return operators.get(operatorStream(email))?.perform(command, asker) ?? busy
  }

  const changeAccess = async (
    address: string,
    change: { readonly type: 'RemoveOperator' } | { readonly type: 'SetOperatorRole'; readonly role: Role },
    asker: Asker,
  ): Promise<Outcome<{ readonly email: string }, CommandRefusal>> => {
    const email = parseEmail(address)
    if (!email.ok) return email
    const perform = async (): Promise<Outcome<unknown, CommandRefusal>> => {
      const others = projections.operators
        .list()
        .filter((other) => other.role === 'admin' && other.email !== email.value)
      const command = { ...change, otherAdmins: others.length }
      return operators.get(operatorStream(email.value))?.perform(command, asker) ?? busy
    }
    const changed = await (setup.get(setupStream)?.inTurn(perform) ?? busy)
    return changed.ok ? done({ email: email.value }) : changed
  }

  return {
    setRole: (email, role, asker) => changeAccess(email, { type: 'SetOperatorRole', role }, asker),
    remove: (email, asker) => changeAccess(email, { type: 'RemoveOperator' }, asker),

    issueLink: async (input, asker) => {
      const secret = newSecret(host)
      const link = { linkHash: hashOf(secret), role: input.role, expiresAt: clock.now() + linkMsMax }
      const issued = { secret, expiresAt: link.expiresAt }
      if (input.email === null) {
        const answer = await (setup.get(setupStream)?.perform({ type: 'IssueSetupLink', ...link }, asker) ?? busy)
        return answer.ok ? done(issued) : answer
      }
      const email = parseEmail(input.email)
      if (!email.ok) return email
      const command = { type: 'IssueOperatorLink', email: email.value, ...link } as const
      const answer = await (operators.get(operatorStream(email.value))?.perform(command, asker) ?? busy)
      return answer.ok ? done(issued) : answer
    },

    link: (secret) => {
      const link = projections.operators.link(hashOf(secret), clock.now())
      if (link === null) return null
      const { email, role } = link
      return { email, role, isNew: email === null || projections.operators.get(email) === null }
    },

    spendLink: async (input, asker) => {
      const linkHash = hashOf(input.secret)
      const link = projections.operators.link(linkHash, clock.now())
      if (link === null) return refused({ kind: 'link_invalid' })
      const email = parseEmail(input.email)
      if (!email.ok) return email
      if (link.email !== null && link.email !== email.value) return refused({ kind: 'link_invalid' })
      const password = parsePassword(input.password)
      if (!password.ok) return password
      const spending = { linkHash, email: email.value, password: password.value }
      const spent = await (link.stream === setupStream ? spendSetupLink : spendOwnLink)(spending, asker)
      return spent.ok ? done({ email: email.value }) : spent
    },

    signIn: async (input, requestId) => {
      const email = parseEmail(input.email)
      const account = email.ok ? projections.operators.get(email.value) : null
      const isRight = await passwords.matches(input.password, account?.passwordHash ?? null)
      if (!isRight.ok) return isRight
      if (account === null || !isRight.value) return refused({ kind: 'wrong_credentials' })
      const sessionSecret = newSecret(host)
      const session = { email: account.email, role: account.role, expiresAt: clock.now() + sessionMsMax }
      const command = {
        type: 'SignIn',
        passwordHash: account.passwordHash,
        sessionHash: hashOf(sessionSecret),
        expiresAt: session.expiresAt,
      } as const
      const asker: Asker = { by: { kind: 'operator', email: account.email }, requestId }
      const answer = await (operators.get(operatorStream(account.email))?.perform(command, asker) ?? busy)
      return answer.ok ? done({ sessionSecret, session }) : answer
    },

    session: (sessionSecret) => projections.operators.session(hashOf(sessionSecret), clock.now()),

    isSessionOver: (sessionSecret) => projections.operators.isSessionOver(hashOf(sessionSecret), clock.now()),

    signOut: async (sessionSecret, requestId) => {
      const sessionHash = hashOf(sessionSecret)
      const session = projections.operators.session(sessionHash, clock.now())
      if (session === null) return done(null)
      const asker: Asker = { by: { kind: 'operator', email: session.email }, requestId }
      const answer = await (operators
        .get(operatorStream(session.email))
        ?.perform({ type: 'SignOut', sessionHash }, asker) ?? busy)
      return answer.ok ? done(null) : answer
    },
  }
}

const newSecret = (host: Host): string => base62(host.entropy.bytes(secretBytes), secretChars)

const hashOf = (secret: string): string => Bun.SHA256.hash(secret, 'hex')

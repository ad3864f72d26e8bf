import type { Role } from '../domain/events.ts'
import { type CommandRefusal, done, type Outcome, refused } from '../domain/refusal.ts'
import { operatorStream, setupStream } from '../domain/streams.ts'
import { parseEmail, parsePassword } from '../domain/text.ts'
import { linkMsMax } from '../limits.ts'
import { busy } from './cellars.ts'
import type { Asker, Operators, OwnPassword, PasswordClient, SignIns } from './core.ts'
import type { Host } from './host.ts'
import type { OperatorActor, SetupActor } from './operator-actor.ts'
import { hashOf, newSecret } from './operator-secrets.ts'
import type { Passwords } from './passwords.ts'
import type { Registry } from './registry.ts'

type Actors = {
  readonly operators: Registry<OperatorActor>
  readonly setup: Registry<SetupActor>
  readonly passwords: Passwords
}

type Spending = {
  readonly linkHash: string
  readonly email: string
  readonly password: string
  readonly client: PasswordClient | undefined
}

/** Links and accounts. */
export const createOperators = (
  host: Host,
  { operators, setup, passwords }: Actors,
): Omit<Operators, keyof SignIns> => {
  const { clock, projections } = host

  const spendSetupLink = async (input: Spending, asker: Asker): Promise<Outcome<unknown, CommandRefusal>> => {
    const { linkHash, email, password, client } = input
    if (projections.operators.get(email) !== null) return refused({ kind: 'operator_exists' })
    if (projections.operators.wasRemoved(email)) return refused({ kind: 'operator_was_removed' })
    const hashed = await passwords.hash({ email, password }, client)
    if (!hashed.ok) return hashed
    const spent = await (setup.get(setupStream)?.perform({ type: 'SpendSetupLink', linkHash, email }, asker) ?? busy)
    if (!spent.ok) return spent
    const role = spent.value.spent?.role ?? 'admin'
    const command = { type: 'AddOperator', email, role, passwordHash: hashed.value } as const
    return operators.get(operatorStream(email))?.perform(command, asker) ?? busy
  }

  const spendOwnLink = async (input: Spending, asker: Asker): Promise<Outcome<unknown, CommandRefusal>> => {
    const { linkHash, email, password, client } = input
    const hashed = await passwords.hash({ email, password }, client)
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

  /** A link lets its maker take over the account. So a session that was stolen or left open must not be enough to make one. */
  const mayMakeLink = async (
    email: string,
    own: OwnPassword | undefined,
    { by }: Asker,
  ): Promise<Outcome<unknown, CommandRefusal>> => {
    const isThere = projections.operators.get(email) !== null || projections.operators.wasRemoved(email)
    if (by.kind !== 'operator' || !isThere) return done(null)
    if (own === undefined) return refused({ kind: 'own_password_needed' })
    const { passwordHash = null } = projections.operators.get(by.email) ?? {}
    const isRight = await passwords.matches(own.password, passwordHash, own.client)
    if (!isRight.ok) return isRight
    return isRight.value ? done(null) : refused({ kind: 'wrong_own_password' })
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
      const mayMake = await mayMakeLink(email.value, input.own, asker)
      if (!mayMake.ok) return mayMake
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
      const spending = { linkHash, email: email.value, password: password.value, client: input.client }
      const spent = await (link.stream === setupStream ? spendSetupLink : spendOwnLink)(spending, asker)
      return spent.ok ? done({ email: email.value }) : spent
    },
  }
}

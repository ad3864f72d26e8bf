import type { By, Role } from '../../domain/events.ts'
import { sessionIdOf } from '../../domain/operator.ts'
import { type CommandRefusal, done, type Outcome, refused } from '../../domain/refusal.ts'
import { operatorStream, setupStream } from '../../domain/stream-names.ts'
import { parseEmail, parsePassword } from '../../domain/text.ts'
import { linkMsMax } from '../../limits.ts'
import { busy } from '../cellar/cellar-requests.ts'
import type { Asker, Operators, OwnPassword, PasswordClient, SignIns } from '../core.ts'
import type { Host } from '../host.ts'
import type { Registry } from '../registry.ts'
import type { OperatorActor, SetupActor } from './operator-actor.ts'
import { hashOf, newSecret } from './operator-secrets.ts'
import type { Passwords } from './passwords.ts'

type Actors = {
  readonly operators: Registry<OperatorActor>
  readonly setup: Registry<SetupActor>
  readonly passwords: Passwords
}

type ByOperator = Extract<By, { readonly kind: 'operator' }>

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
    const { role = 'admin', madeBy: linkMadeBy = null } = spent.value.spent ?? {}
    const command = { type: 'AddOperator', email, role, passwordHash: hashed.value, linkHash, linkMadeBy } as const
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

  /**
   * True if the link may also be for an account that exists, or existed. Its maker could take that account over, so an operator
   * must give the own password. Comparing takes a while, so the session and the role are checked again after it.
   */
  const mayReset = async (
    email: string,
    own: OwnPassword | undefined,
    { by }: Asker,
  ): Promise<Outcome<boolean, CommandRefusal>> => {
    if (by.kind !== 'operator') return done(true)
    const isThere = projections.operators.get(email) !== null || projections.operators.wasRemoved(email)
    if (own === undefined || !isThere) return done(false)
    const { passwordHash = null } = projections.operators.get(by.email) ?? {}
    const isRight = await passwords.matches(own.password, passwordHash, own.client)
    if (!isRight.ok) return isRight
    if (!isRight.value) return refused({ kind: 'wrong_own_password' })
    return isOpenAdmin(by) ? done(true) : refused({ kind: 'session_has_ended' })
  }

  const isOpenAdmin = ({ email, session }: ByOperator): boolean => {
    const isOpen = (one: { readonly sessionHash: string }): boolean => sessionIdOf(one) === session?.id
    if (projections.operators.get(email)?.role !== 'admin') return false
    return session === undefined || projections.operators.sessions(email, clock.now()).some(isOpen)
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
      const reset = await mayReset(email.value, input.own, asker)
      if (!reset.ok) return reset
      const command = { type: 'IssueOperatorLink', mayReset: reset.value, email: email.value, ...link } as const
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

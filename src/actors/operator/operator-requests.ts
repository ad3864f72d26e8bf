import type { By, Role } from '../../domain/events.ts'
import { sessionIdOf } from '../../domain/operator.ts'
import { type CommandRefusal, done, type Outcome, refused } from '../../domain/refusal.ts'
import { operatorStream, setupStream } from '../../domain/stream-names.ts'
import { parseEmail, parsePassword } from '../../domain/text.ts'
import type { ActorContext } from '../actor-context.ts'
import type { Asker, Operators, OwnPassword, PasswordClient, SignIns } from '../core-interface.ts'
import { busy, type Registry } from '../registry.ts'
import type { OperatorActor, SetupActor } from './operator-actor.ts'
import { hashOf, newSecret } from './operator-secrets.ts'
import type { Passwords } from './passwords.ts'

export const linkMsMax = 24 * 3_600_000

type Actors = {
  readonly operators: Registry<OperatorActor>
  readonly setup: Registry<SetupActor>
  readonly passwords: Passwords
}

type Parts = Actors & { readonly context: ActorContext }

type Accounts = Omit<Operators, keyof SignIns>

type Answer<T> = Promise<Outcome<T, CommandRefusal>>

export const createOperators = (context: ActorContext, { operators, setup, passwords }: Actors): Accounts => {
  const parts: Parts = { context, operators, setup, passwords }
  return {
    setRole: (email, role, asker) => changeAccess(parts, { email, change: { type: 'SetOperatorRole', role } }, asker),
    remove: (email, asker) => changeAccess(parts, { email, change: { type: 'RemoveOperator' } }, asker),
    issueLink: (input, asker) => issueLink(parts, input, asker),
    link: (secret) => shownLink(context, secret),
    spendLink: (input, asker) => spendLink(parts, input, asker),
  }
}

const issueLink = async (
  parts: Parts,
  input: Parameters<Accounts['issueLink']>[0],
  asker: Asker,
): ReturnType<Accounts['issueLink']> => {
  const { context, setup, operators } = parts
  const secret = newSecret(context)
  const link = { linkHash: hashOf(secret), role: input.role, expiresAt: context.clock.now() + linkMsMax }
  const issued = { secret, expiresAt: link.expiresAt }
  if (input.email === null) {
    const answer = await (setup.get(setupStream)?.perform({ type: 'IssueSetupLink', ...link }, asker) ?? busy)
    return answer.ok ? done(issued) : answer
  }
  const email = parseEmail(input.email)
  if (!email.ok) return email
  const reset = await mayReset(parts, { email: email.value, own: input.own }, asker)
  if (!reset.ok) return reset
  const command = { type: 'IssueOperatorLink', mayReset: reset.value, email: email.value, ...link } as const
  const answer = await (operators.get(operatorStream(email.value))?.perform(command, asker) ?? busy)
  return answer.ok ? done(issued) : answer
}

/**
 * True if the link may reset a password: then its maker could take over the account. So an operator must give their own.
 */
const mayReset = async (
  { context, passwords }: Parts,
  { email, own }: { readonly email: string; readonly own: OwnPassword | undefined },
  { by }: Asker,
): Answer<boolean> => {
  if (by.kind !== 'operator') return done(true)
  const { operators } = context.projections
  const isThere = operators.get(email) !== null || operators.wasRemoved(email)
  if (own === undefined || !isThere) return done(false)
  const { passwordHash = null } = operators.get(by.email) ?? {}
  const isRight = await passwords.matches(own.password, passwordHash, own.client)
  if (!isRight.ok) return isRight
  if (!isRight.value) return refused({ kind: 'wrong_own_password' })
  // The session can have ended during the slow comparison of passwords.
  return isOpenAdmin(context, by) ? done(true) : refused({ kind: 'session_has_ended' })
}

type ByOperator = Extract<By, { readonly kind: 'operator' }>

const isOpenAdmin = ({ projections, clock }: ActorContext, { email, session }: ByOperator): boolean => {
  if (projections.operators.get(email)?.role !== 'admin') return false
  if (session === undefined) return true
  return projections.operators.sessions(email, clock.now()).some((open) => sessionIdOf(open) === session.id)
}

const shownLink = ({ projections, clock }: ActorContext, secret: string): ReturnType<Accounts['link']> => {
  const link = projections.operators.link(hashOf(secret), clock.now())
  if (link === null) return null
  const { email, role } = link
  return { email, role, isNew: email === null || projections.operators.get(email) === null }
}

const spendLink = async (
  parts: Parts,
  input: Parameters<Accounts['spendLink']>[0],
  asker: Asker,
): ReturnType<Accounts['spendLink']> => {
  const linkHash = hashOf(input.secret)
  const link = parts.context.projections.operators.link(linkHash, parts.context.clock.now())
  if (link === null) return refused({ kind: 'link_invalid' })
  const email = parseEmail(input.email)
  if (!email.ok) return email
  if (link.email !== null && link.email !== email.value) return refused({ kind: 'link_invalid' })
  const password = parsePassword(input.password)
  if (!password.ok) return password
  const spending = { linkHash, email: email.value, password: password.value, client: input.client }
  const spend = link.stream === setupStream ? spendSetupLink : spendOwnLink
  const spent = await spend(parts, spending, asker)
  return spent.ok ? done({ email: email.value }) : spent
}

type Spending = {
  readonly linkHash: string
  readonly email: string
  readonly password: string
  readonly client: PasswordClient | undefined
}

const spendSetupLink = async (parts: Parts, input: Spending, asker: Asker): Answer<unknown> => {
  const { context, operators, setup, passwords } = parts
  const { linkHash, email, password, client } = input
  if (context.projections.operators.get(email) !== null) return refused({ kind: 'operator_exists' })
  if (context.projections.operators.wasRemoved(email)) return refused({ kind: 'operator_was_removed' })
  const hashed = await passwords.hash({ email, password }, client)
  if (!hashed.ok) return hashed
  const spent = await (setup.get(setupStream)?.perform({ type: 'SpendSetupLink', linkHash, email }, asker) ?? busy)
  if (!spent.ok) return spent
  const { role = 'admin', madeBy: linkMadeBy = null } = spent.value.spent ?? {}
  const command = { type: 'AddOperator', email, role, passwordHash: hashed.value, linkHash, linkMadeBy } as const
  return operators.get(operatorStream(email))?.perform(command, asker) ?? busy
}

const spendOwnLink = async ({ operators, passwords }: Parts, input: Spending, asker: Asker): Answer<unknown> => {
  const { linkHash, email, password, client } = input
  const hashed = await passwords.hash({ email, password }, client)
  if (!hashed.ok) return hashed
  const command = { type: 'SpendOperatorLink', email, linkHash, passwordHash: hashed.value } as const
  return operators.get(operatorStream(email))?.perform(command, asker) ?? busy
}

type AccessChange = {
  readonly email: string
  readonly change: { readonly type: 'RemoveOperator' } | { readonly type: 'SetOperatorRole'; readonly role: Role }
}

const changeAccess = async (
  { context, operators, setup }: Parts,
  { email: typed, change }: AccessChange,
  asker: Asker,
): Answer<{ readonly email: string }> => {
  const email = parseEmail(typed)
  if (!email.ok) return email
  const perform = async (): Answer<unknown> => {
    const admins = context.projections.operators.list().filter(({ role }) => role === 'admin')
    const otherAdmins = admins.filter((admin) => admin.email !== email.value).length
    return operators.get(operatorStream(email.value))?.perform({ ...change, otherAdmins }, asker) ?? busy
  }
  // One actor performs these changes in turn: two at once could remove the last two admins. On two nodes this can still
  // happen (docs/decisions/021-sessions-links-and-accounts.md).
  const changed = await (setup.get(setupStream)?.ask(perform) ?? busy)
  return changed.ok ? done({ email: email.value }) : changed
}

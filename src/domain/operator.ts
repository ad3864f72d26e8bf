import { linksOpenMax, sessionsPerOperatorMax } from '../limits.ts'
import type { Decided, RecordedEvent, Role } from './events.ts'
import { assertNever, type CommandRefusal, done, type Outcome, refused } from './refusal.ts'

/** Valid while `now < expiresAt`, for this account only, and spent by the first use of any of its links. */
export type OperatorLink = { readonly linkHash: string; readonly role: Role; readonly expiresAt: number }

export type OperatorSession = { readonly sessionHash: string; readonly expiresAt: number }

/** One operator, folded from `operator-<digest>`. Without an account there is only an invitation. */
export type OperatorState = {
  readonly email: string
  readonly account: OperatorAccountState | null
  /** Oldest first. */
  readonly links: readonly OperatorLink[]
  /** Oldest first. Whether one is still open depends on the time. */
  readonly sessions: readonly OperatorSession[]
  /** There was an account once, though it may have been taken away since. */
  readonly wasAdded: boolean
  /** Revision of the last event folded. */
  readonly revision: number
}

export type OperatorAccountState = { readonly role: Role; readonly passwordHash: string; readonly addedAt: number }

/** What one operator's own stream does not say: how many admins there are besides. The last one stays. */
type Remaining = { readonly otherAdmins: number }

export type OperatorCommand =
  /** For a new operator with that role, or for the lost password of one who keeps theirs. */
  | {
      readonly type: 'IssueOperatorLink'
      readonly email: string
      readonly role: Role
      readonly linkHash: string
      readonly expiresAt: number
    }
  /** Adds the operator or sets the password. */
  | {
      readonly type: 'SpendOperatorLink'
      readonly email: string
      readonly linkHash: string
      readonly passwordHash: string
    }
  /** After a set-up link was spent on this e-mail, in the stream of set-up links. */
  | { readonly type: 'AddOperator'; readonly email: string; readonly role: Role; readonly passwordHash: string }
  | ({ readonly type: 'SetOperatorRole'; readonly role: Role } & Remaining)
  /** Or withdraws an invitation. The e-mail may be invited again. */
  | ({ readonly type: 'RemoveOperator' } & Remaining)
  /** `passwordHash` is the one that the password was checked against. */
  | {
      readonly type: 'SignIn'
      readonly passwordHash: string
      readonly sessionHash: string
      readonly expiresAt: number
    }
  | { readonly type: 'SignOut'; readonly sessionHash: string }

export type OperatorEventType =
  | 'OperatorLinkIssued'
  | 'OperatorAdded'
  | 'OperatorPasswordSet'
  | 'OperatorRoleChanged'
  | 'OperatorRemoved'
  | 'OperatorSignedIn'
  | 'OperatorSignedOut'

export type DecidedOperator = Decided<OperatorEventType>

type Decision = Outcome<readonly DecidedOperator[], CommandRefusal>

/** The events that follow from a command, none if it is already so. `now` is ms. */
export const decideOperator = (operator: OperatorState | null, command: OperatorCommand, now: number): Decision => {
  const account = operator?.account ?? null
  switch (command.type) {
    case 'IssueOperatorLink': {
      const { email, linkHash, expiresAt } = command
      const role = account?.role ?? command.role
      return done([{ type: 'OperatorLinkIssued', data: { email, role, linkHash, expiresAt } }])
    }
    case 'SpendOperatorLink':
      return spendLink(operator, command, now)
    case 'AddOperator': {
      if (account !== null) return refused({ kind: 'operator_exists' })
      // A set-up link stays good for its e-mail until the operator is there, and would be a way back in.
      if (operator?.wasAdded === true) return refused({ kind: 'operator_was_removed' })
      const { email, role, passwordHash } = command
      return done([{ type: 'OperatorAdded', data: { email, role, passwordHash } }])
    }
    case 'SetOperatorRole':
      if (account === null) return refused({ kind: 'operator_not_found' })
      if (account.role === command.role) return done([])
      if (isLastAdmin(account, command)) return refused({ kind: 'last_admin' })
      return done([{ type: 'OperatorRoleChanged', data: { role: command.role } }])
    case 'RemoveOperator':
      return remove(operator, command, now)
    case 'SignIn':
      return signIn(operator, command, now)
    case 'SignOut':
      if (!operator?.sessions.some(({ sessionHash }) => sessionHash === command.sessionHash)) return done([])
      return done([{ type: 'OperatorSignedOut', data: { sessionHash: command.sessionHash } }])
    default:
      return assertNever(command)
  }
}

const spendLink = (
  operator: OperatorState | null,
  { email, linkHash, passwordHash }: Extract<OperatorCommand, { readonly type: 'SpendOperatorLink' }>,
  now: number,
): Decision => {
  const link = operator?.links.find((one) => one.linkHash === linkHash)
  if (operator === null || link === undefined || now >= link.expiresAt) return refused({ kind: 'link_invalid' })
  if (operator.account !== null) {
    return done([{ type: 'OperatorPasswordSet', data: { passwordHash, linkHash } }])
  }
  return done([{ type: 'OperatorAdded', data: { email, role: link.role, passwordHash } }])
}

const remove = (operator: OperatorState | null, remaining: Remaining, now: number): Decision => {
  const account = operator?.account ?? null
  const isInvited = operator?.links.some(({ expiresAt }) => now < expiresAt) === true
  if (account === null && !isInvited) {
    return operator?.wasAdded === true ? done([]) : refused({ kind: 'operator_not_found' })
  }
  if (account !== null && isLastAdmin(account, remaining)) return refused({ kind: 'last_admin' })
  return done([{ type: 'OperatorRemoved', data: {} }])
}

const isLastAdmin = ({ role }: OperatorAccountState, { otherAdmins }: Remaining): boolean =>
  role === 'admin' && otherAdmins === 0

/**
 * Checking a password takes a while, in which another may have been set: whoever knew only the old one gets no session.
 * The oldest sessions end, and say so in the log, where there would be more than an operator may have.
 */
const signIn = (
  operator: OperatorState | null,
  { passwordHash, sessionHash, expiresAt }: Extract<OperatorCommand, { readonly type: 'SignIn' }>,
  now: number,
): Decision => {
  if (operator?.account?.passwordHash !== passwordHash) return refused({ kind: 'wrong_credentials' })
  const open = operator.sessions.filter((session) => now < session.expiresAt)
  const tooMany = Math.max(0, open.length + 1 - sessionsPerOperatorMax)
  const ended = open
    .slice(0, tooMany)
    .map((session): DecidedOperator => ({ type: 'OperatorSignedOut', data: { sessionHash: session.sessionHash } }))
  return done([...ended, { type: 'OperatorSignedIn', data: { sessionHash, expiresAt } }])
}

/** Folds one event of `operator-<digest>`. What has run out by the event's own time is forgotten, so nothing piles up. */
export const evolveOperator = (
  operator: OperatorState | null,
  event: RecordedEvent<OperatorEventType>,
): OperatorState => {
  const { revision } = event
  const isLeft = ({ expiresAt }: { readonly expiresAt: number }): boolean => event.recordedAt < expiresAt
  switch (event.type) {
    case 'OperatorLinkIssued': {
      const { email, role, linkHash, expiresAt } = event.data
      if (email === null) throw new Error(`Cannot fold ${event.type} of "${event.stream}": it names no e-mail`)
      const links = [...(operator?.links ?? []).filter(isLeft), { linkHash, role, expiresAt }].slice(-linksOpenMax)
      return { account: null, sessions: [], wasAdded: false, ...operator, email, links, revision }
    }
    case 'OperatorAdded': {
      const { email, role, passwordHash } = event.data
      const account = { role, passwordHash, addedAt: event.recordedAt }
      return { email, account, links: [], sessions: [], wasAdded: true, revision }
    }
    case 'OperatorPasswordSet': {
      const { account, ...known } = withAccount(operator, event)
      return {
        ...known,
        account: { ...account, passwordHash: event.data.passwordHash },
        links: [],
        sessions: [],
        revision,
      }
    }
    case 'OperatorRoleChanged': {
      const { account, ...known } = withAccount(operator, event)
      return { ...known, account: { ...account, role: event.data.role }, revision }
    }
    case 'OperatorRemoved':
      if (operator === null) throw new Error(`Cannot fold ${event.type} of "${event.stream}": nobody was invited`)
      return { ...operator, account: null, links: [], sessions: [], revision }
    case 'OperatorSignedIn': {
      const known = withAccount(operator, event)
      const { sessionHash, expiresAt } = event.data
      return { ...known, sessions: [...known.sessions.filter(isLeft), { sessionHash, expiresAt }], revision }
    }
    case 'OperatorSignedOut': {
      const known = withAccount(operator, event)
      const isOther = ({ sessionHash }: OperatorSession): boolean => sessionHash !== event.data.sessionHash
      return { ...known, sessions: known.sessions.filter(isOther), revision }
    }
    default:
      return assertNever(event)
  }
}

const withAccount = (
  operator: OperatorState | null,
  event: RecordedEvent<OperatorEventType>,
): OperatorState & { readonly account: OperatorAccountState } => {
  if (operator === null || operator.account === null) {
    throw new Error(`Cannot fold ${event.type} of "${event.stream}": the operator was never added`)
  }
  return { ...operator, account: operator.account }
}

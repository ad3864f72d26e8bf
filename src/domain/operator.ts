import { linksOpenMax } from '../limits.ts'
import type { By, Decided, EventData, RecordedEvent, Role, TypesIn } from './events.ts'
import { isExpired } from './expiry.ts'
import { assertNever, type CommandRefusal, done, type Outcome, refused } from './refusal.ts'

export const sessionsPerOperatorMax = 20
/** The number of hex digits of a session's hash that name the session in the log and on pages, without its secret. */
const sessionIdChars = 16
/** Browsers that are known from earlier sign-ins. A further browser replaces the oldest. */
export const devicesPerOperatorMax = 20
export const linksToldMax = 5

/** The first use of a link ends all links of the account, because each could set the password again. */
export type OperatorLink = {
  readonly linkHash: string
  readonly role: Role
  readonly expiresAt: number
  readonly madeBy: string
}

export type OperatorSession = {
  readonly sessionHash: string
  readonly startedAt: number
  readonly expiresAt: number
  readonly idleAt: number
  readonly deviceHash: string | null
  readonly seenRevision: number | null
  /** Another person whose link set the password, and who can know it. `null`: nobody, or the first invitation set it. */
  readonly linkMadeBy: string | null
}

export const sessionIdOf = ({ sessionHash }: { readonly sessionHash: string }): string =>
  sessionHash.slice(0, sessionIdChars)

type LinkFromOther = {
  readonly linkHash: string
  readonly madeBy: string
  readonly madeAt: number
  readonly usedAt: number | null
}

/** `account` is `null` if the operator is only invited, or was removed. */
export type OperatorState = {
  readonly email: string
  readonly account: OperatorAccountState | null
  /** Oldest first. */
  readonly links: readonly OperatorLink[]
  /** Oldest first. Expired ones are dropped only at the next sign-in. */
  readonly sessions: readonly OperatorSession[]
  /** True even if the account was removed. A set-up link cannot create it again. */
  readonly wasAdded: boolean
  readonly revision: number
}

export type OperatorAccountState = {
  readonly role: Role
  readonly passwordHash: string
  readonly addedAt: number
  readonly passwordSetAt: number
  /** An e-mail or `cli`: whose link set the password. `null` for an own link or the first invitation. */
  readonly passwordLinkMadeBy: string | null
  readonly lastSignedInAt: number | null
  readonly devices: readonly string[]
  /** Oldest first. */
  readonly linksFromOthers: readonly LinkFromOther[]
}

/** The last admin can neither be removed nor lose the role. */
type Remaining = { readonly otherAdmins: number }

export type OperatorCommand =
  /** With an account, `role` is ignored: a link must not change a role. */
  | {
      readonly type: 'IssueOperatorLink'
      /**
       * True on the command line, or with the admin's own password. Otherwise a link for an e-mail that has or had an
       * account is refused: its maker could take over the account.
       */
      readonly mayReset: boolean
      readonly email: string
      readonly role: Role
      readonly linkHash: string
      readonly expiresAt: number
    }
  | {
      readonly type: 'SpendOperatorLink'
      readonly email: string
      readonly linkHash: string
      readonly passwordHash: string
    }
  | ({ readonly type: 'AddOperator' } & EventData<'OperatorAdded'>)
  | ({ readonly type: 'SetOperatorRole'; readonly role: Role } & Remaining)
  | ({ readonly type: 'RemoveOperator' } & Remaining)
  /**
   * The caller has compared the typed password with `passwordHash`. The session `endsSessionHash` ends: a browser keeps
   * only one.
   */
  | ({
      readonly type: 'SignIn'
      readonly passwordHash: string
      readonly endsSessionHash: string | null
    } & NewSession)
  | { readonly type: 'RenewSession'; readonly sessionHash: string; readonly idleAt: number }
  | { readonly type: 'SignOut'; readonly sessionHash: string }
  | { readonly type: 'EndSessions'; readonly which: EndedSessions }
  /**
   * The caller has compared the typed old password with `oldPasswordHash`. Other people can know the old password, so a new
   * session replaces all sessions.
   */
  | ({
      readonly type: 'ChangePassword'
      readonly inSessionHash: string
      readonly oldPasswordHash: string
      readonly passwordHash: string
    } & NewSession)

type NewSession = Pick<OperatorSession, 'sessionHash' | 'expiresAt' | 'idleAt' | 'deviceHash' | 'seenRevision'>

export type EndedSessions = { readonly id: string } | { readonly allBut: string | null }

export type OperatorEventType = TypesIn<'operator'>

export type DecidedOperator = Decided<OperatorEventType>

type Decision = Outcome<readonly DecidedOperator[], CommandRefusal>

export const decideOperator = (operator: OperatorState | null, command: OperatorCommand, now: number): Decision => {
  const account = operator?.account ?? null
  switch (command.type) {
    case 'IssueOperatorLink': {
      const { email, linkHash, expiresAt, mayReset } = command
      if (operator?.wasAdded === true && !mayReset) return refused({ kind: 'own_password_needed' })
      const role = account?.role ?? command.role
      const purpose = account === null ? 'invite' : 'reset'
      return done([{ type: 'OperatorLinkIssued', data: { email, role, linkHash, expiresAt, purpose } }])
    }
    case 'SpendOperatorLink':
      return spendLink(operator, command, now)
    case 'AddOperator': {
      if (account !== null) return refused({ kind: 'operator_exists' })
      // Otherwise a removed operator could use the same set-up link again.
      if (operator?.wasAdded === true) return refused({ kind: 'operator_was_removed' })
      const { type: _, ...data } = command
      return done([{ type: 'OperatorAdded', data }])
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
    case 'RenewSession':
      return renewSession(operator, command, now)
    case 'SignOut':
      return done(signedOut(operator, ({ sessionHash }) => sessionHash === command.sessionHash))
    case 'EndSessions': {
      if (account === null) return refused({ kind: 'operator_not_found' })
      const { which } = command
      return done(
        signedOut(operator, (session) =>
          'id' in which ? sessionIdOf(session) === which.id : session.sessionHash !== which.allBut,
        ),
      )
    }
    case 'ChangePassword':
      return changePassword(operator, command)
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
  if (operator === null || link === undefined || isExpired(link, now)) return refused({ kind: 'link_invalid' })
  const { role, madeBy: linkMadeBy } = link
  if (operator.account !== null) {
    return done([{ type: 'OperatorPasswordSet', data: { passwordHash, linkHash, linkMadeBy } }])
  }
  return done([{ type: 'OperatorAdded', data: { email, role, passwordHash, linkHash, linkMadeBy } }])
}

const remove = (operator: OperatorState | null, remaining: Remaining, now: number): Decision => {
  const account = operator?.account ?? null
  const isInvited = operator?.links.some((link) => !isExpired(link, now)) === true
  if (account === null && !isInvited) {
    return operator?.wasAdded === true ? done([]) : refused({ kind: 'operator_not_found' })
  }
  if (account !== null && isLastAdmin(account, remaining)) return refused({ kind: 'last_admin' })
  return done([{ type: 'OperatorRemoved', data: {} }])
}

const isLastAdmin = ({ role }: OperatorAccountState, { otherAdmins }: Remaining): boolean =>
  role === 'admin' && otherAdmins === 0

/** Refuses if the stored password changed during the comparison. */
const signIn = (
  operator: OperatorState | null,
  command: Extract<OperatorCommand, { readonly type: 'SignIn' }>,
  now: number,
): Decision => {
  if (operator?.account?.passwordHash !== command.passwordHash) return refused({ kind: 'wrong_credentials' })
  const left = operator.sessions.filter(
    (session) => !isExpired(session, now) && session.sessionHash !== command.endsSessionHash,
  )
  const tooMany = new Set(left.slice(0, Math.max(0, left.length + 1 - sessionsPerOperatorMax)))
  const ended = signedOut(
    operator,
    (session) => tooMany.has(session) || session.sessionHash === command.endsSessionHash,
  )
  return done([...ended, signedIn(command)])
}

const signedIn = ({ sessionHash, expiresAt, idleAt, deviceHash, seenRevision }: NewSession): DecidedOperator => ({
  type: 'OperatorSignedIn',
  data: { sessionHash, expiresAt, idleAt, deviceHash, seenRevision },
})

const signedOut = (
  operator: OperatorState | null,
  isEnded: (session: OperatorSession) => boolean,
): readonly DecidedOperator[] =>
  (operator?.sessions ?? [])
    .filter(isEnded)
    .map(({ sessionHash }) => ({ type: 'OperatorSignedOut', data: { sessionHash } }))

const renewSession = (
  operator: OperatorState | null,
  { sessionHash, idleAt }: Extract<OperatorCommand, { readonly type: 'RenewSession' }>,
  now: number,
): Decision => {
  const session = operator?.sessions.find((one) => one.sessionHash === sessionHash)
  const isOpen = session !== undefined && !isExpired(session, now)
  if (!isOpen || idleAt <= session.idleAt) return done([])
  return done([{ type: 'OperatorSessionRenewed', data: { sessionHash, idleAt } }])
}

/** Keeps `linkMadeBy`: the maker of the link can be the one who changes the password, to hide the link. */
const changePassword = (
  operator: OperatorState | null,
  command: Extract<OperatorCommand, { readonly type: 'ChangePassword' }>,
): Decision => {
  if (operator?.account?.passwordHash !== command.oldPasswordHash) return refused({ kind: 'wrong_credentials' })
  const isOpen = operator.sessions.some(({ sessionHash }) => sessionHash === command.inSessionHash)
  if (!isOpen) return refused({ kind: 'session_has_ended' })
  const { passwordHash } = command
  const linkMadeBy = operator.account.passwordLinkMadeBy
  return done([{ type: 'OperatorPasswordSet', data: { passwordHash, linkHash: null, linkMadeBy } }, signedIn(command)])
}

/** Drops expired links and sessions. Otherwise the state would grow with every sign-in. */
export const evolveOperator = (
  operator: OperatorState | null,
  event: RecordedEvent<OperatorEventType>,
): OperatorState => {
  const { revision } = event
  switch (event.type) {
    case 'OperatorLinkIssued':
      return withLink(operator, event)
    case 'OperatorAdded':
      return withNewAccount(operator, event)
    case 'OperatorPasswordSet':
      return withPassword(withAccount(operator, event), event)
    case 'OperatorRoleChanged': {
      const { account, ...known } = withAccount(operator, event)
      return { ...known, account: { ...account, role: event.data.role }, revision }
    }
    case 'OperatorRemoved':
      if (operator === null) throw new Error(`Cannot fold ${event.type} of "${event.stream}": nobody was invited`)
      return { ...operator, account: null, links: [], sessions: [], revision }
    case 'OperatorSignedIn':
      return withSession(withAccount(operator, event), event)
    case 'OperatorSessionRenewed': {
      const known = withAccount(operator, event)
      const { sessionHash, idleAt } = event.data
      const sessions = known.sessions.map((one) => (one.sessionHash === sessionHash ? { ...one, idleAt } : one))
      return { ...known, sessions, revision }
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

type Fold<T extends OperatorEventType> = RecordedEvent<T>
type WithAccount = OperatorState & { readonly account: OperatorAccountState }

const withLink = (operator: OperatorState | null, event: Fold<'OperatorLinkIssued'>): OperatorState => {
  const { revision, recordedAt } = event
  const { email, role, linkHash, expiresAt } = event.data
  if (email === null) throw new Error(`Cannot fold ${event.type} of "${event.stream}": it names no e-mail`)
  const madeBy = makerOf(event.metadata.by, email)
  const left = (operator?.links ?? []).filter((link) => !isExpired(link, recordedAt))
  const links = [...left, { linkHash, role, expiresAt, madeBy }].slice(-linksOpenMax)
  const known = { sessions: [], wasAdded: false, ...operator, email, links, revision }
  const account = operator?.account ?? null
  if (account === null || madeBy === email) return { ...known, account }
  const made: LinkFromOther = { linkHash, madeBy, madeAt: recordedAt, usedAt: null }
  return { ...known, account: { ...account, linksFromOthers: [...account.linksFromOthers, made].slice(-linksToldMax) } }
}

/**
 * An e-mail or `cli`. If another person's link had set the operator's password, that person can be using the session. So a
 * link that the operator makes for the own account then counts as made by that person.
 */
export const makerOf = (by: By, account: string | null): string => {
  if (by.kind !== 'operator') return 'cli'
  return by.email === account ? (by.session?.linkMadeBy ?? by.email) : by.email
}

const withNewAccount = (
  operator: OperatorState | null,
  { data, revision, recordedAt }: Fold<'OperatorAdded'>,
): OperatorState => {
  const { email, role, passwordHash, linkHash } = data
  // An admin can set a password by removing and inviting again. So a second `OperatorAdded` counts as a reset.
  const isReset = operator?.wasAdded === true
  const linkMadeBy = isReset ? data.linkMadeBy : null
  const made = { linkHash: linkHash ?? '', madeBy: linkMadeBy ?? '', madeAt: recordedAt, usedAt: recordedAt }
  const account: OperatorAccountState = {
    role,
    passwordHash,
    addedAt: recordedAt,
    passwordSetAt: recordedAt,
    passwordLinkMadeBy: linkMadeBy,
    lastSignedInAt: null,
    devices: [],
    linksFromOthers: linkMadeBy === null ? [] : [made],
  }
  return { email, account, links: [], sessions: [], wasAdded: true, revision }
}

const withPassword = (
  { account, ...known }: WithAccount,
  { data, recordedAt, revision }: Fold<'OperatorPasswordSet'>,
): OperatorState => {
  const { linkMadeBy } = data
  const linksFromOthers = account.linksFromOthers.map((made) =>
    made.linkHash === data.linkHash ? { ...made, usedAt: recordedAt } : made,
  )
  const set: OperatorAccountState = {
    ...account,
    passwordHash: data.passwordHash,
    passwordSetAt: recordedAt,
    passwordLinkMadeBy: linkMadeBy === known.email ? null : linkMadeBy,
    devices: [],
    linksFromOthers,
  }
  return { ...known, account: set, links: [], sessions: [], revision }
}

const withSession = (
  { account, ...known }: WithAccount,
  { data, recordedAt, revision }: Fold<'OperatorSignedIn'>,
): OperatorState => {
  const { deviceHash } = data
  const session = { ...data, startedAt: recordedAt, linkMadeBy: account.passwordLinkMadeBy }
  const others = account.devices.filter((one) => one !== deviceHash)
  const devices = deviceHash === null ? others : [...others, deviceHash].slice(-devicesPerOperatorMax)
  return {
    ...known,
    account: { ...account, lastSignedInAt: recordedAt, devices },
    sessions: [...known.sessions.filter((one) => !isExpired(one, recordedAt)), session],
    revision,
  }
}

const withAccount = (operator: OperatorState | null, event: RecordedEvent<OperatorEventType>): WithAccount => {
  if (operator === null || operator.account === null) {
    throw new Error(`Cannot fold ${event.type} of "${event.stream}": the operator was never added`)
  }
  return { ...operator, account: operator.account }
}

import type { EventType, RecordedEvent } from '../../src/domain/events.ts'
import { countOf, countText } from '../parts/quantity.ts'
import {
  type Context,
  cannotSay,
  instant,
  operator,
  type Part,
  quoted,
  type Sentence,
  type Sentences,
  say,
  strong,
} from './sentence-parts.ts'

type OperatorEventType = Extract<EventType, `Operator${string}` | `SignIn${string}`>

export const operatorSentences: Sentences<OperatorEventType> = {
  OperatorLinkIssued: ({ data }, { who }) =>
    say`${who} ${linkSentence(data)}. It works until ${instant(data.expiresAt)}.`,
  OperatorLinkUsed: ({ data }) =>
    say`${operator(data.email)} used the link for the first admin. All other such links ended.`,
  OperatorAdded: ({ data }) => say`${operator(data.email)} became an operator, with the role ${strong(data.role)}.`,
  OperatorPasswordSet: (event, context) => passwordSentence(event, personOf(event, context)),
  OperatorRoleChanged: (event, context) => {
    const from = context.before.operator?.account?.role
    const old = from === undefined ? '' : ` from ${from}`
    return say`${context.who} changed the role of ${personOf(event, context)}${old} to ${strong(event.data.role)}.`
  },
  OperatorRemoved: (event, context) =>
    context.before.operator?.account === null
      ? say`${context.who} withdrew the invitation of ${personOf(event, context)}.`
      : say`${context.who} removed ${personOf(event, context)}. All sessions and links of the account ended.`,
  OperatorSignedIn: (event, context) => say`${personOf(event, context)} signed in.`,
  OperatorSessionRenewed: (event, context) =>
    say`${personOf(event, context)} used a session. It stays open until ${instant(event.data.idleAt)}, or longer if it is used.`,
  OperatorSignedOut: (event, context) => {
    const person = personOf(event, context)
    return isOwnSession(event) ? say`${person} signed out.` : say`${context.who} ended a session of ${person}.`
  },
  SignInSeen: ({ data: { email, address, browser } }) =>
    say`${operator(email)} entered the right password, from ${quoted(address)} with ${quoted(browser)}.`,
  SignInsRefused: ({ data }) => refusedSentence(data),
}

const personOf = (
  { stream, metadata }: RecordedEvent<OperatorEventType>,
  { before, names }: Context,
): Part | string => {
  const email = before.operator?.email ?? names.emailOfStream(stream)
  if (email !== null) return operator(email)
  return metadata.by.kind === 'operator' ? 'an operator' : 'An operator'
}

const isOwnSession = ({ data, metadata }: RecordedEvent<'OperatorSignedOut'>): boolean =>
  metadata.by.kind === 'operator' &&
  metadata.by.session !== undefined &&
  data.sessionHash.startsWith(metadata.by.session.id)

const linkSentence = ({ email, role, purpose }: RecordedEvent<'OperatorLinkIssued'>['data']): Sentence => {
  if (email === null) return say`created a link for the first admin`
  switch (purpose) {
    case 'invite':
      return say`invited ${operator(email)}, with the role ${strong(role)}`
    case 'reset':
      return say`created a link for ${operator(email)} to set a new password`
    case 'set_up':
    case null:
      return say`created a one-time link for ${operator(email)}`
    default:
      return cannotSay(purpose)
  }
}

const passwordSentence = (event: RecordedEvent<'OperatorPasswordSet'>, person: Part | string): Sentence => {
  const { linkHash, linkMadeBy } = event.data
  const link = linkHash === null ? '' : say`, with a one-time link${linkMakerOf(linkMadeBy)}`
  return say`${person} set a new password${link}. All other sessions of the account ended.`
}

const linkMakerOf = (linkMadeBy: string | null): Sentence => {
  if (linkMadeBy === null) return []
  return linkMadeBy === 'cli' ? say` from the command line` : say` from ${operator(linkMadeBy)}`
}

type RefusedSignIns = RecordedEvent<'SignInsRefused'>['data']

const refusedSentence = ({ accounts, others }: RefusedSignIns): Sentence => {
  const counts = [...accounts, others]
  const failed = counts.reduce((sum, one) => sum + one.failed, 0)
  const throttled = counts.reduce((sum, one) => sum + one.throttled, 0)
  const blocked = throttled === 0 ? '' : ` and ${countText(throttled)} blocked`
  const many = strong(`${countOf(failed, 'failed sign-in', 'failed sign-ins')}${blocked}`)
  const [first] = accounts
  if (first === undefined) return say`${many}, with e-mails that have no account.`
  const rest = others.failed + others.throttled
  if (accounts.length === 1 && rest === 0)
    return say`${many} as ${operator(first.email)}${addressesOf(first.addresses)}.`
  const left = accounts.length - accountsMax
  return listSentence(many, [
    ...accounts
      .slice(0, accountsMax)
      .map((one) => say`${countText(one.failed + one.throttled)} as ${operator(one.email)}`),
    ...(left > 0 ? [say`${countOf(left, 'other account', 'other accounts')}`] : []),
    ...(rest > 0 ? [say`${countText(rest)} with other e-mails`] : []),
  ])
}

const listSentence = (many: Part, items: readonly Sentence[]): Sentence =>
  say`${many}: ${items.flatMap((item, at) => say`${at === 0 ? '' : ', '}${item}`)}.`

/** The page of the event lists all. */
const addressesMax = 3
const accountsMax = 3

const addressesOf = (addresses: readonly string[]): Sentence => {
  if (addresses.length === 0) return []
  const shown: Sentence = addresses
    .slice(0, addressesMax)
    .flatMap((address, at) => [...say`${at === 0 ? '' : ', '}`, { kind: 'typed', text: address } satisfies Part])
  const left = addresses.length - addressesMax
  return say` from ${shown}${left > 0 ? ` and ${countOf(left, 'other address', 'other addresses')}` : ''}`
}

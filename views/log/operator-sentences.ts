import type { RecordedEvent } from '../../src/domain/events.ts'
import type { OperatorState } from '../../src/domain/operator.ts'
import { countOf, countText } from '../parts/quantity.ts'
import {
  cannotSay,
  instant,
  type Names,
  operator,
  type Part,
  quoted,
  type Sentence,
  say,
  strong,
} from './sentence-parts.ts'

type OperatorEvent = RecordedEvent<
  | 'OperatorLinkIssued'
  | 'OperatorLinkUsed'
  | 'OperatorAdded'
  | 'OperatorPasswordSet'
  | 'OperatorRoleChanged'
  | 'OperatorRemoved'
  | 'OperatorSignedIn'
  | 'OperatorSessionRenewed'
  | 'OperatorSignedOut'
  | 'SignInSeen'
  | 'SignInsRefused'
>

type OperatorContext = {
  /** Who did it, as the beginning of a sentence. */
  readonly who: Sentence
  readonly before: OperatorState | null
  readonly names: Names
}

export const operatorSentence = (event: OperatorEvent, context: OperatorContext): Sentence => {
  const { who, before } = context
  const person = personOf(event, context)
  switch (event.type) {
    case 'OperatorLinkIssued':
      return say`${who} ${linkSentence(event.data)}. It works until ${instant(event.data.expiresAt)}.`
    case 'OperatorLinkUsed':
      return say`${operator(event.data.email)} used the link for the first admin. All other such links ended.`
    case 'OperatorAdded':
      return say`${operator(event.data.email)} became an operator, with the role ${strong(event.data.role)}.`
    case 'OperatorPasswordSet':
      return passwordSentence(event, person)
    case 'OperatorRoleChanged': {
      const from = before?.account?.role
      const old = from === undefined ? '' : ` from ${from}`
      return say`${who} changed the role of ${person}${old} to ${strong(event.data.role)}.`
    }
    case 'OperatorRemoved':
      return before !== null && before.account === null
        ? say`${who} withdrew the invitation of ${person}.`
        : say`${who} removed ${person}. All sessions and links of the account ended.`
    case 'OperatorSignedIn':
      return say`${person} signed in.`
    case 'OperatorSessionRenewed':
      return say`${person} used a session. It stays open until ${instant(event.data.idleAt)}, or longer if it is used.`
    case 'OperatorSignedOut':
      return isOwnSession(event) ? say`${person} signed out.` : say`${who} ended a session of ${person}.`
    case 'SignInSeen': {
      const { email, address, browser } = event.data
      return say`${operator(email)} entered the right password, from ${quoted(address)} with ${quoted(browser)}.`
    }
    case 'SignInsRefused':
      return refusedSentence(event.data)
    default:
      return cannotSay(event)
  }
}

const personOf = ({ stream, metadata }: OperatorEvent, { before, names }: OperatorContext): Part | string => {
  const email = before?.email ?? names.emailOfStream(stream)
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

/** Longer lists are no sentences. The page of the event lists all. */
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

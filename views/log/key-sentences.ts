import type { Limit, RecordedEvent } from '../../src/domain/events.ts'
import type { KeyEventType } from '../../src/domain/key.ts'
import {
  type Context,
  instant,
  limitBefore,
  limitVerb,
  limitWords,
  type Names,
  overlapWords,
  type Part,
  quoted,
  reasonOf,
  type Sentence,
  type Sentences,
  say,
  strong,
} from './sentence-parts.ts'

export const keySentences: Sentences<KeyEventType> = {
  KeyCreated: ({ data: { keyId, label, cellar, predecessorId } }, { who, names }) => {
    const title = names.cellarTitle(cellar) ?? cellar
    const made = say`${who} created the key ${{ kind: 'key', keyId, label }} in ${{ kind: 'cellar', cellar, title }}`
    return predecessorId === null ? say`${made}.` : say`${made}, to replace ${namedKey(predecessorId, names)}.`
  },
  KeyRelabelled: (event, context) => relabelledSentence(event, context),
  KeyLimitChanged: (event, context) =>
    say`${context.who} ${limitSentence(keyOf(event, context), context.before.key?.limit, event.data.limit)}.`,
  KeyExpirySet: (event, context) =>
    say`${context.who} ${expirySentence(keyOf(event, context), context.before.key?.expiresAt, event.data.expiresAt)}.`,
  KeyRotated: (event, context) => {
    const key = keyOf(event, context)
    const successor = namedKey(event.data.successorId, context.names)
    return say`${context.who} rotated ${key} to ${successor}. The old key ${overlapWords(event.data.overlapMs)}.`
  },
  KeySuperseded: (event, context) => {
    const { successorId, usedAt, expiresAt } = event.data
    const key = keyOf(event, context)
    const stops = expiresAt <= event.recordedAt ? 'stopped' : 'stops'
    const successor = namedKey(successorId, context.names)
    return say`${key} ${stops} working at ${instant(expiresAt)}: its successor, ${successor}, was first used at ${instant(usedAt)}.`
  },
  KeySuspended: (event, context) =>
    say`${context.who} suspended ${keyOf(event, context)}${reasonOf(event.data.reason)}.`,
  KeyResumed: (event, context) => say`${context.who} resumed ${keyOf(event, context)}${reasonOf(event.data.reason)}.`,
  KeyExpired: (event, context) => say`${keyOf(event, context)} expired at ${instant(event.data.expiresAt)}.`,
  KeyRevoked: (event, context) =>
    say`${context.who} revoked ${keyOf(event, context)}${reasonOf(event.data.reason)}. No reading of it was accepted afterwards.`,
}

type KeyPart = Extract<Part, { readonly kind: 'key' }>

/** With the label that it had before the event. */
const keyOf = ({ stream }: RecordedEvent, { before, names }: Context): KeyPart => {
  const keyId = before.key?.keyId ?? stream.slice(stream.indexOf('-') + 1)
  return { kind: 'key', keyId, label: before.key?.label ?? names.keyLabel(keyId) }
}

const namedKey = (keyId: string, names: Names): KeyPart => ({ kind: 'key', keyId, label: names.keyLabel(keyId) })

const relabelledSentence = (event: RecordedEvent<'KeyRelabelled'>, context: Context): Sentence => {
  const { who } = context
  const before = context.before.key
  const { label, note } = event.data
  const key = keyOf(event, context)
  if (before === null) return say`${who} changed the label or the note of ${key}.`
  if (before.label === label) return say`${who} changed the note of ${key}.`
  const isNoteToo = before.note !== note
  return say`${who} renamed ${key} to ${quoted(label)}${isNoteToo ? ', and changed its note' : ''}.`
}

/** What follows after who did it. `from` is `undefined` if it is not known. */
const limitSentence = (key: Part, from: Limit | null | undefined, to: Limit | null): Sentence => {
  if (from === undefined) {
    return to === null
      ? say`gave ${key} the limit of its cellar`
      : say`set the limit of ${key} to ${strong(limitWords(to))}`
  }
  if (to === null) {
    const own = from === null ? '' : `. Before, it was ${limitWords(from)}`
    return say`gave ${key} the limit of its cellar${own}`
  }
  if (from === null)
    return say`set the limit of ${key} to ${strong(limitWords(to))}. Before, it had the limit of its cellar`
  return say`${limitVerb(from, to)} the limit of ${key} from ${limitBefore(from, to)} to ${strong(limitWords(to))}`
}

const expirySentence = (key: Part, from: number | null | undefined, to: number | null): Sentence => {
  const old =
    from === undefined ? '' : from === null ? '. Before, it had no expiry' : say`. Before, it was ${instant(from)}`
  return to === null
    ? say`removed the expiry of ${key}${from === null ? '' : old}`
    : say`set the expiry of ${key} to ${instant(to)}${old}`
}

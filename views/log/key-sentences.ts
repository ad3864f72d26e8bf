import type { Limit, RecordedEvent } from '../../src/domain/events.ts'
import type { KeyEventType, KeyState } from '../../src/domain/key.ts'
import {
  cannotSay,
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
  say,
  strong,
} from './sentence-parts.ts'

type KeyContext = {
  /** Who did it, as the beginning of a sentence. */
  readonly who: Sentence
  readonly before: KeyState | null
  readonly names: Names
}

export const keySentence = (event: RecordedEvent<KeyEventType>, context: KeyContext): Sentence => {
  const { who, before, names } = context
  const key = keyOf(event, context)
  switch (event.type) {
    case 'KeyCreated':
      return createdSentence(event, context)
    case 'KeyRelabelled':
      return relabelledSentence(event, context)
    case 'KeyLimitChanged':
      return say`${who} ${limitSentence(key, before?.limit, event.data.limit)}.`
    case 'KeyExpirySet':
      return say`${who} ${expirySentence(key, before?.expiresAt, event.data.expiresAt)}.`
    case 'KeyRotated': {
      const successor = otherKey(event.data.successorId, names, key.label)
      return say`${who} rotated ${key} to ${successor}. The old key ${overlapWords(event.data.overlapMs)}.`
    }
    case 'KeySuperseded': {
      const { successorId, usedAt, expiresAt } = event.data
      const stops = expiresAt <= event.recordedAt ? 'stopped' : 'stops'
      const successor = otherKey(successorId, names, key.label)
      return say`${key} ${stops} working at ${instant(expiresAt)}: its successor, ${successor}, was first used at ${instant(usedAt)}.`
    }
    case 'KeySuspended':
      return say`${who} suspended ${key}${reasonOf(event.data.reason)}.`
    case 'KeyResumed':
      return say`${who} resumed ${key}${reasonOf(event.data.reason)}.`
    case 'KeyExpired':
      return say`${key} expired at ${instant(event.data.expiresAt)}.`
    case 'KeyRevoked':
      return say`${who} revoked ${key}${reasonOf(event.data.reason)}. No reading of it was accepted afterwards.`
    default:
      return cannotSay(event)
  }
}

type KeyPart = Extract<Part, { readonly kind: 'key' }>

/** The key has the label that it had before the event. */
const keyOf = ({ stream }: RecordedEvent, { before, names }: KeyContext): KeyPart => {
  const keyId = before?.keyId ?? stream.slice(stream.indexOf('-') + 1)
  return { kind: 'key', keyId, label: before?.label ?? names.keyLabel(keyId) }
}

/** Both keys of a rotation often have the same label, so the other key is named by its id too. */
const otherKey = (keyId: string, names: Names, ownLabel: string | null): Sentence => {
  const label = names.keyLabel(keyId)
  const key: KeyPart = { kind: 'key', keyId, label }
  return label !== null && label === ownLabel ? say`${key} (clr_${keyId}_…)` : [key]
}

const createdSentence = (event: RecordedEvent<'KeyCreated'>, context: KeyContext): Sentence => {
  const { keyId, label, cellar, predecessorId } = event.data
  const title = context.names.cellarTitle(cellar) ?? cellar
  const made = say`${context.who} created the key ${{ kind: 'key', keyId, label }} in ${{ kind: 'cellar', cellar, title }}`
  return predecessorId === null
    ? say`${made}.`
    : say`${made}, to replace ${otherKey(predecessorId, context.names, label)}.`
}

const relabelledSentence = (event: RecordedEvent<'KeyRelabelled'>, context: KeyContext): Sentence => {
  const { who, before } = context
  const { label, note } = event.data
  const key = keyOf(event, context)
  if (before === null) return say`${who} changed the label or the note of ${key}.`
  if (before.label === label) return say`${who} changed the note of ${key}.`
  const isNoteToo = before.note !== note
  return say`${who} renamed ${key} to ${quoted(label)}${isNoteToo ? ', and changed its note' : ''}.`
}

/** Writes what follows after who did it. `from` is `undefined` if it is not known. */
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

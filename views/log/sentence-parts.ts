/** A page makes links of some parts (`event-sentence.tsx`). */
import type { EventType, Limit, RecordedEvent } from '../../src/domain/events.ts'
import type { StateBefore } from '../../src/domain/search/state-before.ts'
import { plainName } from '../../src/hidden-characters.ts'
import { countText } from '../parts/quantity.ts'
import { durationWords, exactText } from '../parts/time-words.ts'

export type Part =
  | { readonly kind: 'text' | 'strong'; readonly text: string }
  /** Chosen by a person or a device. */
  | { readonly kind: 'typed'; readonly text: string }
  /** In ms since 1970. */
  | { readonly kind: 'instant'; readonly at: number }
  /** `label` is `null` if no key has this id, or if its label is not known. */
  | { readonly kind: 'key'; readonly keyId: string; readonly label: string | null }
  | { readonly kind: 'cellar'; readonly cellar: string; readonly title: string }
  | { readonly kind: 'operator'; readonly email: string }
  /** `host` is `null` if it was removed, or is not known. */
  | { readonly kind: 'webhook'; readonly webhookId: string; readonly host: string | null }

export type Sentence = readonly Part[]

/** Of what an event only refers to. `null` for what is not known. */
export type Names = {
  readonly keyLabel: (keyId: string) => string | null
  readonly cellarTitle: (cellar: string) => string | null
  /** The identifier. */
  readonly cellarOfStream: (stream: string) => string | null
  readonly emailOfStream: (stream: string) => string | null
  /** That kegs of this name have now. */
  readonly unitOf: (cellar: string, keg: string) => string | null
  /** Of its address now. */
  readonly webhookHost: (webhookId: string) => string | null
}

export type Context = {
  /** As the beginning of a sentence. */
  readonly who: Sentence
  readonly before: StateBefore
  readonly names: Names
}

export type Sentences<T extends EventType> = {
  readonly [K in T]: (event: RecordedEvent<K>, context: Context) => Sentence
}

type Piece = string | Part | Sentence

/** A piece that is a string is a text, too, so it must not be a typed text. */
export const say = (words: TemplateStringsArray, ...pieces: readonly Piece[]): Sentence =>
  words.flatMap((text, at) => [...partsOf(text), ...partsOf(pieces[at] ?? '')])

const partsOf = (piece: Piece): Sentence => {
  if (typeof piece === 'string') return piece === '' ? [] : [{ kind: 'text', text: piece }]
  return 'kind' in piece ? [piece] : piece
}

export const strong = (text: string): Part => ({ kind: 'strong', text })
export const instant = (at: number): Part => ({ kind: 'instant', at })
export const operator = (email: string): Part => ({ kind: 'operator', email })

/** In one line. */
export const quoted = (text: string): Sentence => say`“${{ kind: 'typed', text: oneLine(text) }}”`

/** `: “left on a bus”`, or nothing if no reason was given. */
export const reasonOf = (reason: string): Sentence => (reason === '' ? [] : say`: ${quoted(reason)}`)

/** A typed line break would break a sentence. */
export const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** Like `600 readings in 60 seconds`. */
export const limitWords = ({ readings, windowMs }: Limit): string =>
  `${countText(readings)} ${readings === 1 ? 'reading' : 'readings'} in ${durationWords(windowMs)}`

export const limitVerb = (from: Limit, to: Limit): string => {
  const isLower = to.readings <= from.readings && to.windowMs >= from.windowMs
  const isHigher = to.readings >= from.readings && to.windowMs <= from.windowMs
  return isLower === isHigher ? 'changed' : isLower ? 'lowered' : 'raised'
}

/** In front of the new one: `6,000` if both have the same period. */
export const limitBefore = (from: Limit, to: Limit): string =>
  from.windowMs === to.windowMs ? countText(from.readings) : limitWords(from)

/** What an old key still does after a rotation. */
export const overlapWords = (overlapMs: number): string =>
  overlapMs === 0
    ? 'stops at the first reading with the new key'
    : `works for ${durationWords(overlapMs)} from the first reading with the new key`

/** With hidden characters shown. */
export const textOf = (sentence: Sentence): string => sentence.map(textOfPart).join('')

const textOfPart = (part: Part): string => {
  switch (part.kind) {
    case 'text':
    case 'strong':
      return part.text
    case 'typed':
      return plainName(part.text)
    case 'instant':
      return exactText(part.at)
    case 'key':
      return plainName(keyName(part) + keyPrefix(part))
    case 'cellar':
      return plainName(cellarName(part))
    case 'operator':
      return plainName(oneLine(part.email))
    case 'webhook':
      return plainName(oneLine(part.host ?? `“${part.webhookId}”`))
    default:
      return cannotSay(part)
  }
}

export const keyName = ({ keyId, label }: Extract<Part, { readonly kind: 'key' }>): string => {
  const name = oneLine(label ?? '')
  return name === '' ? `clr_${keyId}_…` : name
}

/** Behind the name of a key, if that is its label. */
export const keyPrefix = ({ keyId, label }: Extract<Part, { readonly kind: 'key' }>): string =>
  oneLine(label ?? '') === '' ? '' : ` clr_${keyId}`

/** Or the identifier of a cellar without a title. */
export const cellarName = ({ cellar, title }: Extract<Part, { readonly kind: 'cellar' }>): string =>
  oneLine(title === '' ? cellar : title)

/** Ends a `switch` over all kinds. */
export const cannotSay = (value: never): never => {
  throw new Error(`Cannot say in words: ${JSON.stringify(value)}`)
}

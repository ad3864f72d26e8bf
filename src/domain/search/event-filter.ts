/** What people filter the log by. All is judged from the event alone, except for the cellar of a key's change. */
import { type Static, Type } from '@sinclair/typebox'
import type { By, RecordedEvent } from '../events.ts'
import { isKeyId } from '../key-format.ts'
import { assertNever, done } from '../refusal.ts'
import {
  categoryOf,
  cellarStream,
  keyIdOf,
  keyStream,
  nodeRefusalsStream,
  readingsCategory,
  readingsStream,
  refusalsStream,
} from '../stream-names.ts'
import { invalidField, parseEmail, type Typed } from '../text.ts'

export const eventKinds = ['readings', 'refusals', 'keys', 'cellars', 'operators', 'log'] as const
export type EventKind = (typeof eventKinds)[number]

const kindOfCategory: ReadonlyMap<string, EventKind> = new Map([
  [readingsCategory, 'readings'],
  ['refusals', 'refusals'],
  ['key', 'keys'],
  ['cellar', 'cellars'],
  ['operator', 'operators'],
  ['signins', 'operators'],
])

/** A seal or a fence is in the stream of the key's readings, but it is about the key. */
export const kindOf = ({ stream, type }: Pick<RecordedEvent, 'stream' | 'type'>): EventKind =>
  type === 'ReadingsSealed' || type === 'ReadingsFenced' ? 'keys' : (kindOfCategory.get(categoryOf(stream)) ?? 'log')

/** Returns the id of the key that the event is about, or `null`. A purge of a key's readings is in the stream of the cellar. */
export const keyOfEvent = (event: RecordedEvent): string | null => {
  if (event.type === 'ReadingsPurged') return event.data.keyId
  const { stream } = event
  if (stream === nodeRefusalsStream) return null
  const keyId = keyIdOf(stream)
  const isOfKey = stream === readingsStream(keyId) || stream === keyStream(keyId) || stream === refusalsStream(keyId)
  return isOfKey ? keyId : null
}

/** `ask_key`: the event does not name its cellar, but `keyOfEvent` names a key, and the first event of the key names the cellar. */
export const isOfCellar = (event: RecordedEvent, cellar: string): boolean | 'ask_key' => {
  if (event.type === 'ReadingAccepted' || event.type === 'KeyCreated') return event.data.cellar === cellar
  if (categoryOf(event.stream) === 'cellar') return event.stream === cellarStream(cellar)
  return keyOfEvent(event) === null ? false : 'ask_key'
}

/** Who asked for an event: like `By`, but without the session. */
export const Actor = Type.Union([
  Type.Object({ kind: Type.Literal('operator'), email: Type.String() }),
  Type.Object({ kind: Type.Literal('key'), keyId: Type.String() }),
  Type.Object({ kind: Type.Literal('cli') }),
  Type.Object({ kind: Type.Literal('system') }),
])
export type Actor = Static<typeof Actor>

/** Parses an e-mail, a key like `clr_7Qp2mZ4k`, `cli` (the command line) or `system` (the service). */
export const parseActor = (text: string): Typed<Actor> => {
  const typed = text.trim()
  if (typed === 'cli' || typed === 'system') return done({ kind: typed })
  const keyId = /^clr_([^_]*)_?…?$/.exec(typed)?.[1] ?? ''
  if (isKeyId(keyId)) return done({ kind: 'key', keyId })
  const email = parseEmail(typed)
  if (email.ok) return done({ kind: 'operator', email: email.value })
  return invalidField(
    'actor',
    'It must be an e-mail, a key like clr_7Qp2mZ4k, "cli" for the command line, or "system" for the service.',
  )
}

/** Writes the text that `parseActor` parses. */
export const actorText = (by: By): string => {
  switch (by.kind) {
    case 'operator':
      return by.email
    case 'key':
      return `clr_${by.keyId}`
    case 'cli':
    case 'system':
      return by.kind
    default:
      return assertNever(by)
  }
}

export const isBy = (by: By, actor: Actor): boolean => {
  switch (actor.kind) {
    case 'operator':
      return by.kind === 'operator' && by.email === actor.email
    case 'key':
      return by.kind === 'key' && by.keyId === actor.keyId
    case 'cli':
    case 'system':
      return by.kind === actor.kind
    default:
      return assertNever(actor)
  }
}

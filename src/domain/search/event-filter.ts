/**
 * `ask.db` compares numbers, a search of the log compares texts, and both ask `matches`. So a new field of `filterFields`
 * needs a column of the same name in `places`, and a fact in `placeOf`.
 */

import { recordedSkewMsMax, refusalSummaryMsMax } from '../../limits.ts'
import type { Declared, EventKind } from '../events/declare-event.ts'
import { type By, declarationOf, type EventType, eventTypes, type RecordedEvent } from '../events.ts'
import { isKeyId } from '../key-format.ts'
import { assertNever, done } from '../refusal.ts'
import {
  categoryOf,
  keyIdOf,
  keyStream,
  nodeRefusalsStream,
  readingsCategory,
  readingsStream,
  refusalsStream,
} from '../stream-names.ts'
import { invalidField, parseEmail, type Typed } from '../text.ts'

const kindOfCategory: ReadonlyMap<string, EventKind> = new Map([
  [readingsCategory, 'readings'],
  ['refusals', 'refusals'],
  ['key', 'keys'],
  ['cellar', 'cellars'],
  ['operator', 'operators'],
  ['signins', 'operators'],
  ['cellarbook', 'log'],
  ['exports', 'log'],
  ['attention', 'attention'],
])

export const filterFields = ['stream', 'kind', 'type', 'actor', 'key', 'cellar'] as const
export type FilterField = (typeof filterFields)[number]

/**
 * At `since` (ms) or later, and before `until`. A summary of refusals matches if some of its time, from the first to the last
 * refusal, does.
 */
type Times = { readonly since: number | null; readonly until: number | null }

export type LogFilter = Times & {
  readonly stream: string | null
  readonly kind: EventKind | null
  readonly type: EventType | null
  readonly actor: string | null
  /** An id. Events of the key's readings, and purges of them, are events of the key, too. */
  readonly key: string | null
  readonly cellar: string | null
  /** Default: events of all racks. */
  readonly rack?: RackFilter
}

/** Readings say their rack. Other events are of the rack if they are of one of `keys`. `null`: its keys are not known. */
export type RackFilter = { readonly name: string; readonly keys: readonly string[] | null }

/** In an EventStoreDB, `from` must be the position of an event. */
export type LogPart = LogFilter & {
  /** Not included. */
  readonly from: number | null
  /** Included. */
  readonly to: number | null
}

export const anyEvent: LogFilter = {
  stream: null,
  kind: null,
  type: null,
  actor: null,
  key: null,
  cellar: null,
  since: null,
  until: null,
}
export const wholeLog: LogPart = { ...anyEvent, from: null, to: null }

/** The times (ms) of the first and the last thing that a summary counts. */
export type Period = { readonly firstAt: number; readonly lastAt: number }

type Facts<Value> = { readonly [field in FilterField]: Value | null } & {
  readonly recordedAt: number
} & Partial<Period>

/** `Value` is a text, or its number in `ask.db`. */
export const matches = <Value>(
  event: Facts<Value>,
  wanted: Times & { readonly [field in FilterField]: Value | null },
): boolean => {
  const { firstAt = event.recordedAt, lastAt = event.recordedAt } = event
  if (wanted.since !== null && lastAt < wanted.since) return false
  if (wanted.until !== null && firstAt >= wanted.until) return false
  return filterFields.every((field) => wanted[field] === null || wanted[field] === event[field])
}

/** The cellar of the rack is compared as that of all events. */
export const isOfRack = (event: RecordedEvent, rack: RackFilter | undefined): boolean => {
  if (rack === undefined) return true
  if (event.type === 'ReadingAccepted') return event.data.rack === rack.name
  const key = keyOfEvent(event)
  return key !== null && rack.keys?.includes(key) === true
}

const summaryTypes: ReadonlySet<EventType> = new Set(['ReadingsRefused', 'SignInsRefused'] as const)
const summaryKinds: ReadonlySet<EventKind> = new Set(['refusals', 'operators'] as const)

/**
 * Events before `until` were recorded before this time (ms). A summary is recorded later than what it counts. A clock that
 * was far ahead, or a store that was unavailable, can break this rule.
 */
export const recordedUntil = ({ until, kind, type }: LogFilter): number => {
  if (until === null) return Number.POSITIVE_INFINITY
  const isOfSummaries = (type === null || summaryTypes.has(type)) && (kind === null || summaryKinds.has(kind))
  return until + recordedSkewMsMax + (isOfSummaries ? refusalSummaryMsMax : 0)
}

export const periodOf = (event: RecordedEvent): Period | null =>
  event.type === 'ReadingsRefused' || event.type === 'SignInsRefused'
    ? { firstAt: event.data.from, lastAt: event.data.to }
    : null

export const kindOf = ({ stream, type }: Pick<RecordedEvent, 'stream' | 'type'>): EventKind =>
  declarationOf(type).kind ?? kindOfCategory.get(categoryOf(stream)) ?? 'log'

/** Some types, such as `RecordsPurged`, are in streams of several kinds. */
export const typesThatCanBe = (kind: EventKind | null): readonly EventType[] =>
  kind === null ? eventTypes : eventTypes.filter((type) => canBe(declarationOf(type), kind))

const canBe = (declared: Declared, kind: EventKind): boolean =>
  declared.in.some((streams) => {
    const own = declared.kind ?? kindOfCategory.get(streams.replace(/-.*/, ''))
    return own === undefined || own === kind
  })

/** A purge of a key's readings is in the stream of the cellar. */
export const keyOfEvent = (event: RecordedEvent): string | null => {
  if (event.type === 'ReadingsPurged') return event.data.keyId
  const { stream } = event
  if (stream === nodeRefusalsStream) return null
  const keyId = keyIdOf(stream)
  const isOfKey = stream === readingsStream(keyId) || stream === keyStream(keyId) || stream === refusalsStream(keyId)
  return isOfKey ? keyId : null
}

/** An e-mail, a key like `clr_7Qp2mZ4k`, `cli` or `system`. Returns its `actorText`. */
export const parseActor = (text: string): Typed<string> => {
  const typed = text.trim()
  if (typed === 'cli' || typed === 'system') return done(typed)
  const keyId = /^clr_([^_]*)_?…?$/.exec(typed)?.[1] ?? ''
  if (isKeyId(keyId)) return done(actorText({ kind: 'key', keyId }))
  const email = parseEmail(typed)
  if (email.ok) return email
  return invalidField(
    'actor',
    'It must be an e-mail, a key like clr_7Qp2mZ4k, "cli" for the command line, or "system" for the service.',
  )
}

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

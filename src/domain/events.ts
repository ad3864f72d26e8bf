/**
 * Stored events are never rewritten. If the fields of an event change after the first release, its stored form gets a new
 * schema version (`src/log/codec/codec.ts`). Times are in ms.
 */
import { type Static, type TNull, type TObject, type TSchema, type TUnion, Type } from '@sinclair/typebox'
import { attentionEvents } from './events/attention-events.ts'
import { cellarEvents } from './events/cellar-events.ts'
import { type Declared, type StreamKind, strict } from './events/declare-event.ts'
import { keyEvents } from './events/key-events.ts'
import { logEvents } from './events/log-events.ts'
import { operatorEvents } from './events/operator-events.ts'
import { readingEvents } from './events/reading-events.ts'
import { webhookEvents } from './events/webhook-events.ts'
import { Idempotency } from './reading/idempotency-key.ts'

const declaredEvents = {
  ...logEvents,
  ...cellarEvents,
  ...keyEvents,
  ...readingEvents,
  ...operatorEvents,
  ...attentionEvents,
  ...webhookEvents,
}

type Table = typeof declaredEvents

export type EventType = keyof Table
export type EventData<T extends EventType> = Static<Table[T]['data']>

export const isEventType = (text: string): text is EventType => Object.hasOwn(declaredEvents, text)
export const eventTypes: readonly EventType[] = Object.keys(declaredEvents).filter(isEventType)

export const declarationOf = (type: EventType): Declared => declaredEvents[type]

export type TypesIn<S extends StreamKind> = {
  [T in EventType]: S extends Table[T]['in'][number] ? T : never
}[EventType]

export type TextField = { [T in EventType]: TextFieldOf<Table[T]['data']['properties']> }[EventType]
type TextFieldOf<Fields> = {
  [F in keyof Fields]: Fields[F] extends Shown | TUnion<[Shown, TNull]> ? F : never
}[keyof Fields]
type Shown = TSchema & { readonly role: 'text' }

export type TypesWith<Mark extends 'mayTakeAway' | 'comparesState'> = {
  [T in EventType]: Table[T] extends { readonly [M in Mark]: true } ? T : never
}[EventType]

export const isIn = <S extends StreamKind>(
  kind: S,
  event: { readonly type: EventType },
): event is RecordedEvent<TypesIn<S>> => declarationOf(event.type).in.includes(kind)

export const narrowTo = <S extends StreamKind>(kind: S, event: RecordedEvent): RecordedEvent<TypesIn<S>> => {
  if (isIn(kind, event)) return event
  throw new Error(`Cannot fold ${event.type} at revision ${event.revision} of "${event.stream}": not of its category`)
}

export type Limit = NonNullable<EventData<'KeyCreated'>['limit']>
export type Role = EventData<'OperatorAdded'>['role']
export type CellarPolicy = EventData<'CellarPolicyChanged'>['policy']
export type ExportedListName = EventData<'LogExported'>['list']
export type ExportFormat = EventData<'LogExported'>['format']

/**
 * `id` is the beginning of the session's hash. `linkMadeBy` is who made the link that set the password. That person can
 * know the password, and so can be the one who uses the session.
 */
const BySession = Type.Object({ id: Type.String(), linkMadeBy: Type.Union([Type.String(), Type.Null()]) }, strict)

/** `cli` is a person who can use the data folder. `session` is missing if the operator used a link. */
export const By = Type.Union([
  Type.Object({ kind: Type.Literal('operator'), email: Type.String(), session: Type.Optional(BySession) }, strict),
  Type.Object({ kind: Type.Literal('key'), keyId: Type.String() }, strict),
  Type.Object({ kind: Type.Literal('cli') }, strict),
  Type.Object({ kind: Type.Literal('system') }, strict),
])
export type By = Static<typeof By>

const everyMetadata = {
  by: By,
  requestId: Type.String(),
  correlationId: Type.String(),
  causationId: Type.String(),
}

/**
 * Only the first event of a request can have `idempotency`. An optional field would make checking each reading 80 ns slower
 * than this union.
 */
export const Metadata = Type.Union([
  Type.Object(everyMetadata, strict),
  Type.Object({ ...everyMetadata, idempotency: Idempotency }, strict),
])
export type Metadata = Static<TObject<typeof everyMetadata>> & { readonly idempotency?: Idempotency }

export type Decided<T extends EventType> = {
  [K in T]: { readonly type: K; readonly data: EventData<K> }
}[T]

/** `recordedAt` (ms) never decreases within a stream, except in streams of records. */
export type NewEvent<T extends EventType = EventType> = {
  [K in T]: {
    readonly id: string
    readonly type: K
    readonly recordedAt: number
    readonly data: EventData<K>
    readonly metadata: Metadata
  }
}[T]

/** `position` is the place in the whole log. It differs in a copy: EventStoreDB and the embedded log number differently. */
export type RecordedEvent<T extends EventType = EventType> = {
  [K in T]: NewEvent<K> & { readonly stream: string; readonly revision: number; readonly position: number }
}[T]

import { type EventType, eventData } from '../events.ts'
import type { EventKind } from './event-filter.ts'

/** Types whose events are always of one kind. Events of any other type, such as `RecordsPurged`, can be of several kinds. */
const typesOfOneKind = {
  readings: ['ReadingAccepted'],
  refusals: [],
  keys: [
    'KeyCreated',
    'KeyRelabelled',
    'KeyLimitChanged',
    'KeyExpirySet',
    'KeyRotated',
    'KeySuperseded',
    'KeySuspended',
    'KeyResumed',
    'KeyExpired',
    'KeyRevoked',
    'ReadingsSealed',
    'ReadingsFenced',
  ],
  cellars: ['CellarCreated', 'CellarRenamed', 'CellarPolicyChanged', 'ReadingsPurged'],
  operators: [
    'OperatorLinkIssued',
    'OperatorLinkUsed',
    'OperatorAdded',
    'OperatorPasswordSet',
    'OperatorRoleChanged',
    'OperatorRemoved',
    'OperatorSignedIn',
    'OperatorSessionRenewed',
    'OperatorSignedOut',
    'SignInSeen',
    'SignInsRefused',
  ],
  log: ['LogCreated', 'LogCopyBegun', 'LogCopyEnded', 'LogSchemaAccepted', 'LogLossAccepted'],
} as const satisfies Record<EventKind, readonly EventType[]>

const kindOfType: ReadonlyMap<EventType, string> = new Map(
  Object.entries(typesOfOneKind).flatMap(([kind, types]) => types.map((type): [EventType, string] => [type, kind])),
)

export const isEventType = (text: string): text is EventType => Object.hasOwn(eventData, text)

export const eventTypes: readonly EventType[] = Object.keys(eventData).filter(isEventType)

/** Returns all types whose events can be of the kind. An event of such a type can be of another kind. `null`: all types. */
export const typesThatCanBe = (kind: EventKind | null): readonly EventType[] =>
  kind === null ? eventTypes : eventTypes.filter((type) => (kindOfType.get(type) ?? kind) === kind)

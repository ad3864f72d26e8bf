import type { TProperties } from '@sinclair/typebox'
import type { AttentionLine } from '../attention/attention-lines.ts'
import type { CellarState } from '../cellar.ts'
import {
  type CellarPolicy,
  declarationOf,
  type EventData,
  type EventType,
  isIn,
  type Limit,
  type RecordedEvent,
  type TextField,
  type TypesIn,
} from '../events.ts'
import { type KeyState, sameLimit } from '../key.ts'
import type { StateBefore } from './state-before.ts'

/**
 * `from` is missing if there was no earlier value, or if it is not known. Times are in ms. A `limit` of `null` is that of
 * the cellar, and a `defaultLimit` of `null` that of the service.
 */
export type Change = KeyChange | OtherChange

type TextChange = { readonly field: TextField; readonly from?: string; readonly to: string }

export type KeyChange =
  | TextChange
  | { readonly field: 'limit'; readonly from?: Limit | null; readonly to: Limit | null }
  | { readonly field: 'expiresAt'; readonly from?: number | null; readonly to: number | null }
  | { readonly field: 'predecessor'; readonly keyId: string }
  | { readonly field: 'successor'; readonly keyId: string; readonly overlapMs: number }
  | { readonly field: 'superseded'; readonly keyId: string; readonly usedAt: number }
  | { readonly field: 'keyRevision'; readonly to: number }
  | {
      readonly field: 'purged'
      readonly readings: number
      readonly revisions: Revisions
      readonly acceptedBefore: number
      readonly lastAcceptedAt: number
    }

type OtherChange =
  | { readonly field: 'difference' | 'finding' | 'filter'; readonly to: string }
  | { readonly field: 'defaultLimit'; readonly from?: Limit | null; readonly to: Limit | null }
  | { readonly field: DurationField; readonly from?: number | null; readonly to: number | null }
  | { readonly field: 'purgedRecords'; readonly revisions: Revisions; readonly recordedBefore: number }
  | { readonly field: 'events' | 'until' | 'attention'; readonly to: number }
  | { readonly field: 'silentAfter'; readonly to: number | 'never' | null }
  | { readonly field: 'began' | 'ended'; readonly line: AttentionLine }
  | { readonly field: 'refused'; readonly code: string; readonly count: number }
  | { readonly field: 'period'; readonly firstAt: number; readonly lastAt: number }
  | ({ readonly field: 'refusedSignIns' } & RefusedSignIns['accounts'][number])
  | ({ readonly field: 'otherSignIns' } & RefusedSignIns['others'])

type Revisions = { readonly first: number; readonly last: number }
type RefusedSignIns = EventData<'SignInsRefused'>

export type DurationField = 'readingAge' | 'readingAhead' | 'retention'

type OwnChanges<T extends EventType, State, C> = {
  readonly [K in T]?: (event: RecordedEvent<K>, before: State) => readonly C[]
}

/** Never returns the hash of a secret. */
export const changesOf = (event: RecordedEvent, before: StateBefore): readonly Change[] =>
  isOfKey(event)
    ? changesOfKey(event, before.key)
    : (otherChanges(event.type, event, before) ?? textChanges(event, stateOf(event, before)))

type KeyHistoryType = TypesIn<'key'> | 'ReadingsSealed' | 'ReadingsFenced' | 'ReadingsPurged'

const isOfKey = (event: RecordedEvent): event is RecordedEvent<KeyHistoryType> =>
  isIn('key', event) ||
  event.type === 'ReadingsSealed' ||
  event.type === 'ReadingsFenced' ||
  event.type === 'ReadingsPurged'

const stateOf = (event: RecordedEvent, { cellar, operator }: StateBefore): object | null =>
  isIn('cellar', event) ? cellar : isIn('operator', event) ? (operator?.account ?? null) : null

const textChanges = (event: RecordedEvent, state: object | null): readonly TextChange[] => {
  const before = new Map(Object.entries(state ?? {}))
  const { properties } = declarationOf(event.type).data
  return Object.entries(event.data).flatMap(([field, value]) =>
    isTextField(field, properties) ? textChange(field, textOf(before.get(field)), textOf(value)) : [],
  )
}

const textOf = (value: unknown): string => String(value ?? '')

const textChange = (field: TextField, from: string, to: string): readonly TextChange[] => {
  if (from === to) return []
  return from === '' ? [{ field, to }] : [{ field, from, to }]
}

const isTextField = (field: string, properties: TProperties): field is TextField =>
  properties[field]?.['role'] === 'text'

export const changesOfKey = (event: RecordedEvent<KeyHistoryType>, key: KeyState | null): readonly KeyChange[] =>
  ownChangesOfKey(event.type, event, key) ?? [
    ...textChanges(event, isIn('key', event) ? key : null),
    ...('limit' in event.data ? limitChange('limit', key?.limit, event.data.limit) : []),
    ...('expiresAt' in event.data ? valueChange('expiresAt', key?.expiresAt, event.data.expiresAt) : []),
    ...('predecessorId' in event.data && event.data.predecessorId !== null
      ? [{ field: 'predecessor' as const, keyId: event.data.predecessorId }]
      : []),
  ]

const ownOfKey: OwnChanges<KeyHistoryType, KeyState | null, KeyChange> = {
  KeyRotated: ({ data }) => [{ field: 'successor', keyId: data.successorId, overlapMs: data.overlapMs }],
  KeySuperseded: ({ data: { successorId, usedAt, expiresAt } }, key) => [
    { field: 'superseded', keyId: successorId, usedAt },
    ...valueChange('expiresAt', key?.expiresAt, expiresAt),
  ],
  KeyExpired: ({ data }) => [{ field: 'expiresAt', to: data.expiresAt }],
  ReadingsFenced: ({ data }) => [{ field: 'keyRevision', to: data.keyRevision }],
  ReadingsPurged: ({ data: { readings, firstRevision, lastRevision, acceptedBefore, lastAcceptedAt } }) => {
    const revisions = { first: firstRevision, last: lastRevision }
    return [{ field: 'purged', readings, revisions, acceptedBefore, lastAcceptedAt }]
  },
}

const ownChangesOfKey = <T extends KeyHistoryType>(type: T, event: RecordedEvent<T>, key: KeyState | null) =>
  ownOfKey[type]?.(event, key)

const ownOfOthers: OwnChanges<EventType, StateBefore, Change> = {
  CellarUnitSet: ({ data: { keg, unit } }, { cellar }) => [
    { field: 'keg', to: keg },
    ...textChange('unit', cellar?.units.get(keg) ?? '', unit),
  ],
  SilenceRuleSet: ({ data: { rack, keg, after } }) => [
    ...(rack === null ? [] : [{ field: 'rack' as const, to: rack }]),
    ...(keg === null ? [] : [{ field: 'keg' as const, to: keg }]),
    { field: 'silentAfter', to: after },
  ],
  AttentionChanged: ({ data: { began, ended, now, more } }) => [
    ...began.map((line) => ({ field: 'began' as const, line })),
    ...ended.map((line) => ({ field: 'ended' as const, line })),
    { field: 'attention', to: now.length + more },
  ],
  AttentionRested: ({ data }) => [{ field: 'until', to: data.untilMs }],
  CellarPolicyChanged: ({ data }, { cellar }) => policyChanges(cellar, data.policy),
  ReadingsRefused: ({ data: { from, to, counts } }) => [
    { field: 'period', firstAt: from, lastAt: to },
    ...counts.map(({ code, count }) => ({ field: 'refused' as const, code, count })),
  ],
  LogCopyEnded: ({ data }) => [{ field: 'events', to: data.events }],
  LogSchemaAccepted: ({ data }) => data.differences.map((to) => ({ field: 'difference', to })),
  LogLossAccepted: ({ data }) => data.findings.map((to) => ({ field: 'finding', to })),
  LogExported: (event) => [
    ...Object.entries(event.data.filter).map(([name, value]): Change => ({ field: 'filter', to: `${name} ${value}` })),
    ...textChanges(event, null),
  ],
  RecordsPurged: ({ data: { firstRevision, lastRevision, recordedBefore } }) => [
    { field: 'purgedRecords', revisions: { first: firstRevision, last: lastRevision }, recordedBefore },
  ],
  OperatorLinkIssued: (event) => [...textChanges(event, null), { field: 'until', to: event.data.expiresAt }],
  OperatorSignedIn: ({ data }) => [{ field: 'until', to: Math.min(data.idleAt, data.expiresAt) }],
  OperatorSessionRenewed: ({ data }) => [{ field: 'until', to: data.idleAt }],
  SignInsRefused: ({ data: { from, to, accounts, others } }) => [
    { field: 'period', firstAt: from, lastAt: to },
    ...accounts.map((account) => ({ field: 'refusedSignIns' as const, ...account })),
    ...(others.failed + others.throttled === 0 ? [] : [{ field: 'otherSignIns' as const, ...others }]),
  ],
}

const otherChanges = <T extends EventType>(type: T, event: RecordedEvent<T>, before: StateBefore) =>
  ownOfOthers[type]?.(event, before)

const policyChanges = (cellar: CellarState | null, to: CellarPolicy): readonly Change[] => {
  const from = cellar?.policy
  return [
    ...limitChange('defaultLimit', from?.limit, to.limit),
    ...valueChange('readingAge', from?.readingAgeMsMax, to.readingAgeMsMax),
    ...valueChange('readingAhead', from?.readingAheadMsMax, to.readingAheadMsMax),
    ...valueChange('retention', from?.retentionMs, to.retentionMs),
  ]
}

const fromOf = <T>(from: T | undefined): { readonly from?: T } => (from === undefined ? {} : { from })

const limitChange = <F extends 'limit' | 'defaultLimit'>(
  field: F,
  from: Limit | null | undefined,
  to: Limit | null,
): readonly { readonly field: F; readonly from?: Limit | null; readonly to: Limit | null }[] =>
  from !== undefined && sameLimit(from, to) ? [] : [{ field, ...fromOf(from), to }]

const valueChange = <F extends DurationField | 'expiresAt'>(
  field: F,
  from: number | null | undefined,
  to: number | null,
): readonly { readonly field: F; readonly from?: number | null; readonly to: number | null }[] =>
  from === to ? [] : [{ field, ...fromOf(from), to }]

import type { CellarState } from '../cellar.ts'
import type { CellarPolicy, EventData, EventType, Limit, RecordedEvent, Role } from '../events.ts'
import { type KeyState, sameLimit } from '../key.ts'
import { assertNever } from '../refusal.ts'
import type { StateBefore } from './state-before.ts'

/**
 * What an event changed, or what it says. `from` is missing if there was no earlier value, or if it is not known. Times are in
 * ms. A `limit` of `null` is the limit of the cellar, and a `defaultLimit` of `null` the limit of the service.
 */
export type Change = KeyChange | OtherChange

export type KeyChange =
  | { readonly field: KeyTextField; readonly from?: string; readonly to: string }
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
  | { readonly field: OtherTextField; readonly from?: string; readonly to: string }
  | { readonly field: 'defaultLimit'; readonly from?: Limit | null; readonly to: Limit | null }
  | { readonly field: DurationField; readonly from?: number | null; readonly to: number | null }
  | { readonly field: 'role'; readonly from?: Role; readonly to: Role }
  | { readonly field: 'purgedRecords'; readonly revisions: Revisions; readonly recordedBefore: number }
  /** `until`: a link or a session works until this instant. */
  | { readonly field: 'value' | 'events' | 'until'; readonly to: number }
  | { readonly field: 'refused'; readonly code: string; readonly count: number }
  | { readonly field: 'period'; readonly firstAt: number; readonly lastAt: number }
  | ({ readonly field: 'refusedSignIns' } & RefusedSignIns['accounts'][number])
  | ({ readonly field: 'otherSignIns' } & RefusedSignIns['others'])

type Revisions = { readonly first: number; readonly last: number }
type RefusedSignIns = EventData<'SignInsRefused'>

type KeyTextField = 'cellar' | 'label' | 'note' | 'reason'

type OtherTextField =
  | 'title'
  | 'rack'
  | 'keg'
  | 'timestamp'
  | 'email'
  | 'linkMadeBy'
  | 'address'
  | 'browser'
  | 'difference'
  | 'finding'
  | 'recordType'
  | 'filter'
  | 'why'

export type TextField = KeyTextField | OtherTextField
export type DurationField = 'readingAge' | 'readingAhead' | 'retention'

/** Never returns the hash of a secret. */
export const changesOf = (event: RecordedEvent, before: StateBefore): readonly Change[] => {
  switch (event.type) {
    case 'CellarCreated':
      return [
        { field: 'cellar', to: event.data.cellar },
        { field: 'title', to: event.data.title },
      ]
    case 'CellarRenamed':
      return [{ field: 'title', ...fromOf(before.cellar?.title), to: event.data.title }]
    case 'CellarPolicyChanged':
      return policyChanges(before.cellar, event.data.policy)
    case 'ReadingAccepted': {
      const { cellar, rack, keg, value, timestamp } = event.data
      return [
        { field: 'cellar', to: cellar },
        { field: 'rack', to: rack },
        { field: 'keg', to: keg },
        { field: 'value', to: value },
        { field: 'timestamp', to: timestamp },
      ]
    }
    case 'ReadingsRefused': {
      const { from, to, counts } = event.data
      return [
        { field: 'period', firstAt: from, lastAt: to },
        ...counts.map(({ code, count }) => ({ field: 'refused' as const, code, count })),
      ]
    }
    case 'LogCreated':
    case 'LogCopyBegun':
    case 'LogCopyEnded':
    case 'RevisionVacant':
    case 'LogSchemaAccepted':
    case 'LogLossAccepted':
    case 'LogExported':
    case 'RecordsPurged':
    case 'RecordUnreadable':
      return changesOfLog(event)
    case 'OperatorLinkIssued':
    case 'OperatorLinkUsed':
    case 'OperatorAdded':
    case 'OperatorPasswordSet':
    case 'OperatorRoleChanged':
    case 'OperatorRemoved':
    case 'OperatorSignedIn':
    case 'OperatorSessionRenewed':
    case 'OperatorSignedOut':
    case 'SignInSeen':
    case 'SignInsRefused':
      return changesOfOperator(event, before)
    default:
      return changesOfKey(event, before.key)
  }
}

type LogEventType = Extract<EventType, `Log${string}` | `Record${string}` | 'RevisionVacant'>

const changesOfLog = (event: RecordedEvent<LogEventType>): readonly Change[] => {
  switch (event.type) {
    case 'LogCopyEnded':
      return [{ field: 'events', to: event.data.events }]
    case 'LogSchemaAccepted':
      return event.data.differences.map((to) => ({ field: 'difference', to }))
    case 'LogLossAccepted':
      return event.data.findings.map((to) => ({ field: 'finding', to }))
    case 'LogExported':
      return changesOfExport(event.data)
    case 'RecordsPurged': {
      const { firstRevision, lastRevision, recordedBefore } = event.data
      return [{ field: 'purgedRecords', revisions: { first: firstRevision, last: lastRevision }, recordedBefore }]
    }
    case 'RecordUnreadable':
      return [
        { field: 'recordType', to: event.data.type },
        { field: 'why', to: event.data.why },
      ]
    case 'LogCreated':
    case 'LogCopyBegun':
    case 'RevisionVacant':
      return []
    default:
      return assertNever(event)
  }
}

const changesOfExport = ({ filter, address, why }: EventData<'LogExported'>): readonly Change[] => [
  ...Object.entries(filter).map(([name, value]): Change => ({ field: 'filter', to: `${name} ${value}` })),
  ...(address === null ? [] : [{ field: 'address' as const, to: address }]),
  ...(why === null ? [] : [{ field: 'why' as const, to: why }]),
]

type OperatorEventType = Extract<EventType, `Operator${string}` | `SignIn${string}`>

const changesOfOperator = (event: RecordedEvent<OperatorEventType>, { operator }: StateBefore): readonly Change[] => {
  switch (event.type) {
    case 'OperatorLinkIssued': {
      const { email, role, expiresAt } = event.data
      return [...textChange('email', '', email ?? ''), { field: 'role', to: role }, { field: 'until', to: expiresAt }]
    }
    case 'OperatorLinkUsed':
      return [{ field: 'email', to: event.data.email }]
    case 'OperatorAdded': {
      const { email, role, linkMadeBy } = event.data
      return [
        { field: 'email', to: email },
        { field: 'role', to: role },
        ...textChange('linkMadeBy', '', linkMadeBy ?? ''),
      ]
    }
    case 'OperatorPasswordSet':
      return textChange('linkMadeBy', '', event.data.linkMadeBy ?? '')
    case 'OperatorRoleChanged':
      return [{ field: 'role', ...fromOf(operator?.account?.role), to: event.data.role }]
    case 'OperatorSignedIn':
      return [{ field: 'until', to: Math.min(event.data.idleAt, event.data.expiresAt) }]
    case 'OperatorSessionRenewed':
      return [{ field: 'until', to: event.data.idleAt }]
    case 'SignInSeen':
      return [
        { field: 'email', to: event.data.email },
        { field: 'address', to: event.data.address },
        { field: 'browser', to: event.data.browser },
      ]
    case 'SignInsRefused': {
      const { from, to, accounts, others } = event.data
      const isNone = others.failed + others.throttled === 0
      return [
        { field: 'period', firstAt: from, lastAt: to },
        ...accounts.map((account) => ({ field: 'refusedSignIns' as const, ...account })),
        ...(isNone ? [] : [{ field: 'otherSignIns' as const, ...others }]),
      ]
    }
    case 'OperatorRemoved':
    case 'OperatorSignedOut':
      return []
    default:
      return assertNever(event)
  }
}

type KeyEvents = RecordedEvent<
  Extract<EventType, `Key${string}`> | 'ReadingsSealed' | 'ReadingsFenced' | 'ReadingsPurged'
>

export const changesOfKey = (event: KeyEvents, key: KeyState | null): readonly KeyChange[] => {
  switch (event.type) {
    case 'KeyCreated': {
      const { cellar, label, note, limit, expiresAt, predecessorId } = event.data
      return [
        { field: 'cellar', to: cellar },
        { field: 'label', to: label },
        ...textChange('note', '', note),
        { field: 'limit', to: limit },
        { field: 'expiresAt', to: expiresAt },
        ...(predecessorId === null ? [] : [{ field: 'predecessor' as const, keyId: predecessorId }]),
      ]
    }
    case 'KeyRelabelled':
      return [
        ...textChange('label', key?.label ?? '', event.data.label),
        ...textChange('note', key?.note ?? '', event.data.note),
      ]
    case 'KeyLimitChanged':
      return limitChange('limit', key?.limit, event.data.limit)
    case 'KeyExpirySet':
      return [{ field: 'expiresAt', ...fromOf(key?.expiresAt), to: event.data.expiresAt }]
    case 'KeyRotated':
      return [{ field: 'successor', keyId: event.data.successorId, overlapMs: event.data.overlapMs }]
    case 'KeySuperseded': {
      const { successorId, usedAt, expiresAt } = event.data
      const from = key?.expiresAt
      const expiry: readonly KeyChange[] =
        from === expiresAt ? [] : [{ field: 'expiresAt', ...fromOf(from), to: expiresAt }]
      return [{ field: 'superseded', keyId: successorId, usedAt }, ...expiry]
    }
    case 'KeyExpired':
      return [{ field: 'expiresAt', to: event.data.expiresAt }]
    case 'KeySuspended':
    case 'KeyResumed':
    case 'KeyRevoked':
    case 'ReadingsSealed':
      return textChange('reason', '', event.data.reason)
    case 'ReadingsFenced':
      return [{ field: 'keyRevision', to: event.data.keyRevision }]
    case 'ReadingsPurged': {
      const { readings, firstRevision, lastRevision, acceptedBefore, lastAcceptedAt } = event.data
      const revisions = { first: firstRevision, last: lastRevision }
      return [{ field: 'purged', readings, revisions, acceptedBefore, lastAcceptedAt }]
    }
    default:
      return assertNever(event)
  }
}

const policyChanges = (cellar: CellarState | null, to: CellarPolicy): readonly Change[] => {
  const from = cellar?.policy
  return [
    ...limitChange('defaultLimit', from?.limit, to.limit),
    ...durationChange('readingAge', from?.readingAgeMsMax, to.readingAgeMsMax),
    ...durationChange('readingAhead', from?.readingAheadMsMax, to.readingAheadMsMax),
    ...durationChange('retention', from?.retentionMs, to.retentionMs),
  ]
}

const fromOf = <T>(from: T | undefined): { readonly from?: T } => (from === undefined ? {} : { from })

const limitChange = <F extends 'limit' | 'defaultLimit'>(
  field: F,
  from: Limit | null | undefined,
  to: Limit | null,
): readonly { readonly field: F; readonly from?: Limit | null; readonly to: Limit | null }[] =>
  from !== undefined && sameLimit(from, to) ? [] : [{ field, ...fromOf(from), to }]

const durationChange = (field: DurationField, from: number | null | undefined, to: number | null): readonly Change[] =>
  from === to ? [] : [{ field, ...fromOf(from), to }]

const textChange = <F extends TextField>(
  field: F,
  from: string,
  to: string,
): readonly { readonly field: F; readonly from?: string; readonly to: string }[] => {
  if (from === to) return []
  return from === '' ? [{ field, to }] : [{ field, from, to }]
}

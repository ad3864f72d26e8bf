import type { By, Limit, RecordedEvent } from '../src/domain/events.ts'
import { instantText } from '../src/domain/calendar.ts'
import {
  evolveKey,
  type KeyEventType,
  type KeyState,
  type KeyStatus,
  keyStatus,
  type Mark,
  sameLimit,
} from '../src/domain/key.ts'
import { assertNever, done } from '../src/domain/refusal.ts'
import { invalidField, type Typed } from '../src/domain/text.ts'

/** What makes a key's history: the events of `key-<id>`, the seals and fences of `readings-<id>`, and what was purged there. */
export type AuditEventType = KeyEventType | 'ReadingsSealed' | 'ReadingsFenced' | 'ReadingsPurged'
export type AuditEvent = RecordedEvent<AuditEventType>

export type HistoryRow = {
  readonly type: AuditEventType
  readonly at: number
  readonly by: By
  readonly changes: readonly Change[]
  readonly stream: string
  readonly revision: number
  readonly position: number
  readonly requestId: string
  /** The key's state right after this event, at its instant, and why. */
  readonly statusAfter: KeyStatus
  readonly stateAfter: string
}

/** `from` is absent where there was nothing before. */
export type Change =
  | { readonly field: 'cellar' | 'label' | 'note' | 'reason'; readonly from?: string; readonly to: string }
  | { readonly field: 'limit'; readonly from?: Limit | null; readonly to: Limit | null }
  | { readonly field: 'expiresAt'; readonly from?: number | null; readonly to: number | null }
  | { readonly field: 'predecessor'; readonly keyId: string }
  | { readonly field: 'successor'; readonly keyId: string; readonly overlapMs: number }
  /** When the successor was first used (ms). */
  | { readonly field: 'superseded'; readonly keyId: string; readonly usedAt: number }
  | { readonly field: 'keyRevision'; readonly to: number }
  /** What is gone for good: so many, in these revisions, the last accepted then (ms), and all before `acceptedBefore`. */
  | {
      readonly field: 'purged'
      readonly readings: number
      readonly revisions: { readonly first: number; readonly last: number }
      readonly acceptedBefore: number
      readonly lastAcceptedAt: number
    }

/** What was so at one instant. `status` is `null` before the key was made. */
export type KeyAt = { readonly status: KeyStatus | null; readonly reason: string }

/** A key's history, oldest first. The events may come in any order; those of the key's stream must be whole. */
export const historyOf = (events: readonly AuditEvent[]): readonly HistoryRow[] => {
  const rows: HistoryRow[] = []
  let trail = noTrail
  for (const event of inLogOrder(events)) {
    const before = trail
    trail = follow(trail, event)
    const after = judge(trail, event.recordedAt)
    if (after.status === null)
      throw new Error(`Cannot fold ${event.type} of "${event.stream}": the key was never created`)
    rows.push({
      type: event.type,
      at: event.recordedAt,
      by: event.metadata.by,
      changes: changesOf(before.key, event),
      stream: event.stream,
      revision: event.revision,
      position: event.position,
      requestId: event.metadata.requestId,
      statusAfter: after.status,
      stateAfter: after.reason,
    })
  }
  return rows
}

/**
 * What was true at an instant (ms), with the reason in words. An event holds from its own millisecond on. Expiry needs no
 * event: it is judged by the instant, as it was when a reading came in. An instant after `nowMs` is refused: the key may be
 * revoked before it comes, and what is said of it today would read like proof.
 */
export const stateAt = (events: readonly AuditEvent[], atMs: number, nowMs: number): Typed<KeyAt> => {
  if (atMs <= nowMs) return done(stateThen(events, atMs))
  const rule = `This time is in the future: it is now ${instantText(nowMs)}. Enter an earlier time.`
  return invalidField('at', rule)
}

const stateThen = (events: readonly AuditEvent[], atMs: number): KeyAt => {
  let trail = noTrail
  for (const event of inLogOrder(events)) {
    if (event.recordedAt <= atMs) trail = follow(trail, event)
  }
  if (trail.key !== null) return judge(trail, atMs)
  const created = events.find((event) => event.type === 'KeyCreated')
  if (created === undefined) return { status: null, reason: 'there is no such key' }
  return {
    status: null,
    reason: `not created yet: created ${instantText(created.recordedAt)} by ${byText(created.metadata.by)}`,
  }
}

/** The key and what its own state does not say: when it became active, who set its expiry, whether its readings ended. */
type Trail = {
  readonly key: KeyState | null
  readonly activeSince: Mark | null
  readonly expirySet: Mark | null
  readonly sealed: Mark | null
}

const noTrail: Trail = { key: null, activeSince: null, expirySet: null, sealed: null }

const follow = (trail: Trail, event: AuditEvent): Trail => {
  const mark: Mark = { at: event.recordedAt, by: event.metadata.by, reason: '' }
  switch (event.type) {
    case 'ReadingsSealed':
      return { ...trail, sealed: { ...mark, reason: event.data.reason } }
    case 'ReadingsFenced':
    case 'ReadingsPurged':
      return trail
    case 'KeyCreated':
      return { ...trail, key: evolveKey(trail.key, event), activeSince: mark, expirySet: mark }
    case 'KeyResumed':
      return { ...trail, key: evolveKey(trail.key, event), activeSince: mark }
    case 'KeySuperseded':
      return { ...trail, key: evolveKey(trail.key, event), expirySet: mark }
    case 'KeyExpirySet': {
      const wasExpired = trail.key !== null && keyStatus(trail.key, event.recordedAt) === 'expired'
      const activeSince = wasExpired ? mark : trail.activeSince
      return { ...trail, key: evolveKey(trail.key, event), activeSince, expirySet: mark }
    }
    case 'KeyRelabelled':
    case 'KeyLimitChanged':
    case 'KeyRotated':
    case 'KeySuspended':
    case 'KeyExpired':
    case 'KeyRevoked':
      return { ...trail, key: evolveKey(trail.key, event) }
    default:
      return assertNever(event)
  }
}

/** A seal stands for the revocation, which may be recorded a moment later: no reading gets in from the seal on. */
const judge = ({ key, activeSince, expirySet, sealed }: Trail, atMs: number): KeyAt => {
  if (key === null) return { status: null, reason: 'not created yet' }
  const status = keyStatus(key, atMs, sealed !== null)
  switch (status) {
    case 'revoked':
      return { status, reason: `revoked since ${markText(sealed ?? key.revoked)}` }
    case 'suspended':
      return { status, reason: `suspended since ${markText(key.suspended)}` }
    case 'expired':
      return {
        status,
        reason: `expired since ${expiryText(key)}; this expiry was set ${markText(expirySet)}`,
      }
    case 'active': {
      const expiry = key.expiresAt === null ? 'no expiry' : `expiry ${expiryText(key)}`
      return { status, reason: `active since ${markText(activeSince)}; ${expiry}` }
    }
    default:
      return assertNever(status)
  }
}

const expiryText = ({ expiresAt }: KeyState): string => (expiresAt === null ? 'never' : instantText(expiresAt))

/** @throws Error for a state without its mark, which no event leads to. */
const markText = (mark: Mark | null): string => {
  if (mark === null) throw new Error('Cannot say since when a key is so: the mark is missing')
  const reason = mark.reason === '' ? '' : `: ${mark.reason}`
  return `${instantText(mark.at)} by ${byText(mark.by)}${reason}`
}

/** Who did it, in words. */
export const byText = (by: By): string => {
  switch (by.kind) {
    case 'operator':
      return operatorText(by)
    case 'key':
      return `key ${by.keyId}`
    case 'cli':
      return 'the command line'
    case 'system':
      return 'the service itself'
    default:
      return assertNever(by)
  }
}

/** The person who made the link may have used it. */
const operatorText = ({ email, session }: Extract<By, { readonly kind: 'operator' }>): string =>
  session === undefined || session.linkMadeBy === null
    ? email
    : `${email} (password set with a link by ${session.linkMadeBy})`

const changesOf = (key: KeyState | null, event: AuditEvent): readonly Change[] => {
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
    case 'KeyLimitChanged': {
      const from = key?.limit ?? null
      return sameLimit(from, event.data.limit) ? [] : [{ field: 'limit', from, to: event.data.limit }]
    }
    case 'KeyExpirySet':
      return [{ field: 'expiresAt', from: key?.expiresAt ?? null, to: event.data.expiresAt }]
    case 'KeyRotated':
      return [{ field: 'successor', keyId: event.data.successorId, overlapMs: event.data.overlapMs }]
    case 'KeySuperseded': {
      const { successorId, usedAt, expiresAt } = event.data
      const from = key?.expiresAt ?? null
      const expiry: readonly Change[] = from === expiresAt ? [] : [{ field: 'expiresAt', from, to: expiresAt }]
      return [{ field: 'superseded', keyId: successorId, usedAt }, ...expiry]
    }
    case 'KeyExpired':
      return [{ field: 'expiresAt', to: event.data.expiresAt }]
    case 'KeySuspended':
    case 'KeyResumed':
    case 'KeyRevoked':
    case 'ReadingsSealed':
      return event.data.reason === '' ? [] : [{ field: 'reason', to: event.data.reason }]
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

const textChange = (field: 'label' | 'note', from: string, to: string): readonly Change[] => {
  if (from === to) return []
  return from === '' ? [{ field, to }] : [{ field, from, to }]
}

const inLogOrder = (events: readonly AuditEvent[]): readonly AuditEvent[] =>
  [...events].sort((a, b) => a.position - b.position)

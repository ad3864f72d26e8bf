import { instantText } from '../src/domain/calendar.ts'
import type { By, RecordedEvent } from '../src/domain/events.ts'
import { type Attribution, evolveKey, type KeyEventType, type KeyState } from '../src/domain/key.ts'
import { type KeyStatus, keyStatus } from '../src/domain/key-refusal.ts'
import { assertNever, done } from '../src/domain/refusal.ts'
import { changesOfKey, type KeyChange } from '../src/domain/search/event-changes.ts'
import { invalidField, type Typed } from '../src/domain/text.ts'

/** The events of the stream `key-<id>`, the seals and fences of `readings-<id>`, and the purges of its readings. */
export type AuditEventType = KeyEventType | 'ReadingsSealed' | 'ReadingsFenced' | 'ReadingsPurged'
export type AuditEvent = RecordedEvent<AuditEventType>

export type HistoryRow = {
  readonly type: AuditEventType
  readonly at: number
  readonly by: By
  readonly changes: readonly KeyChange[]
  readonly stream: string
  readonly revision: number
  readonly position: number
  readonly requestId: string
  readonly statusAfter: KeyStatus
  readonly stateAfter: string
}

/** `status` is `null` at a time before the key was created. */
export type KeyAt = { readonly status: KeyStatus | null; readonly reason: string }

/** The oldest row is first. `events` can be in any order, but must include all events of the key's stream. */
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
      changes: changesOfKey(event, before.key),
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
 * Returns the key's state at `atMs`. An event counts from its own millisecond on, and a key expires even without a
 * `KeyExpired` event. A time after `nowMs` is refused, because the key can still be revoked before that time.
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

type Trail = {
  readonly key: KeyState | null
  readonly activeSince: Attribution | null
  readonly expirySet: Attribution | null
  readonly sealed: Attribution | null
}

const noTrail: Trail = { key: null, activeSince: null, expirySet: null, sealed: null }

const follow = (trail: Trail, event: AuditEvent): Trail => {
  const change: Attribution = { at: event.recordedAt, by: event.metadata.by, reason: '' }
  switch (event.type) {
    case 'ReadingsSealed':
      return { ...trail, sealed: { ...change, reason: event.data.reason } }
    case 'ReadingsFenced':
    case 'ReadingsPurged':
      return trail
    case 'KeyCreated':
      return { ...trail, key: evolveKey(trail.key, event), activeSince: change, expirySet: change }
    case 'KeyResumed':
      return { ...trail, key: evolveKey(trail.key, event), activeSince: change }
    case 'KeySuperseded':
      return { ...trail, key: evolveKey(trail.key, event), expirySet: change }
    case 'KeyExpirySet': {
      const wasExpired = trail.key !== null && keyStatus(trail.key, event.recordedAt) === 'expired'
      const activeSince = wasExpired ? change : trail.activeSince
      return { ...trail, key: evolveKey(trail.key, event), activeSince, expirySet: change }
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

const judge = ({ key, activeSince, expirySet, sealed }: Trail, atMs: number): KeyAt => {
  if (key === null) return { status: null, reason: 'not created yet' }
  const status = keyStatus(key, atMs, sealed !== null)
  switch (status) {
    case 'revoked':
      return { status, reason: `revoked since ${attributionText(sealed ?? key.revoked)}` }
    case 'suspended':
      return { status, reason: `suspended since ${attributionText(key.suspended)}` }
    case 'expired':
      return {
        status,
        reason: `expired since ${expiryText(key)}; this expiry was set ${attributionText(expirySet)}`,
      }
    case 'active': {
      const expiry = key.expiresAt === null ? 'no expiry' : `expiry ${expiryText(key)}`
      return { status, reason: `active since ${attributionText(activeSince)}; ${expiry}` }
    }
    default:
      return assertNever(status)
  }
}

const expiryText = ({ expiresAt }: KeyState): string => (expiresAt === null ? 'never' : instantText(expiresAt))

const attributionText = (change: Attribution | null): string => {
  if (change === null) throw new Error('Cannot explain the state of a key: the change that led to it is missing')
  const reason = change.reason === '' ? '' : `: ${change.reason}`
  return `${instantText(change.at)} by ${byText(change.by)}${reason}`
}

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

/**
 * Also names the person who made the link that set the password, because that person can have signed in with the
 * password.
 */
const operatorText = ({ email, session }: Extract<By, { readonly kind: 'operator' }>): string =>
  session === undefined || session.linkMadeBy === null
    ? email
    : `${email} (password set with a link by ${session.linkMadeBy})`

const inLogOrder = (events: readonly AuditEvent[]): readonly AuditEvent[] =>
  [...events].sort((a, b) => a.position - b.position)

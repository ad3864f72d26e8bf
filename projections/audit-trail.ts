import { instantText } from '../src/domain/calendar.ts'
import { type By, isIn, type RecordedEvent } from '../src/domain/events.ts'
import { evolveKey, type KeyEventType, type KeyState } from '../src/domain/key.ts'
import { type KeyStatus, keyStatus } from '../src/domain/key-refusal.ts'
import { assertNever, done } from '../src/domain/refusal.ts'
import { changesOfKey, type KeyChange } from '../src/domain/search/event-changes.ts'
import { notInFuture } from '../src/domain/search/instant.ts'
import type { Typed } from '../src/domain/text.ts'

/** The events of the stream `key-<id>`, the seals and fences of `readings-<id>`, and the purges of its readings. */
export type AuditEventType = KeyEventType | 'ReadingsSealed' | 'ReadingsFenced' | 'ReadingsPurged'
export type AuditEvent = RecordedEvent<AuditEventType>

export type HistoryRow = {
  readonly event: AuditEvent
  /** The key before the event; `null` before its creation. */
  readonly before: KeyState | null
  readonly changes: readonly KeyChange[]
  readonly after: KeyAt & { readonly status: KeyStatus; readonly key: KeyState }
}

/** `null` before the key was created. */
export type KeyAt = {
  readonly status: KeyStatus | null
  /** For the command line. */
  readonly reason: string
  readonly key: KeyState | null
  /** For an expired key, the event that set this expiry. */
  readonly decidedBy: AuditEvent | null
}

/**
 * Oldest first. `events` can be in any order, but must include all of the key's stream. `changes` and `after` are made when
 * they are asked for, because a page shows only some rows.
 */
export const historyOf = (events: readonly AuditEvent[]): readonly HistoryRow[] => {
  const rows: HistoryRow[] = []
  let trail = noTrail
  for (const event of inLogOrder(events)) {
    const before = trail.key
    const by = follow(trail, event)
    trail = by
    const { key } = by
    if (key === null) throw new Error(`Cannot fold ${event.type} of "${event.stream}": the key was never created`)
    rows.push({
      event,
      before,
      get changes() {
        return changesOfKey(event, before)
      },
      get after() {
        return judge(key, by, event.recordedAt)
      },
    })
  }
  return rows
}

/**
 * An event counts from its own millisecond on. A key expires even without a `KeyExpired` event. A time after `nowMs` is
 * refused, because the key can still be revoked before it.
 */
export const stateAt = (events: readonly AuditEvent[], atMs: number, nowMs: number): Typed<KeyAt> => {
  const past = notInFuture(atMs, nowMs)
  return past.ok ? done(stateThen(events, atMs)) : past
}

const stateThen = (events: readonly AuditEvent[], atMs: number): KeyAt => {
  let trail = noTrail
  for (const event of inLogOrder(events)) {
    if (event.recordedAt <= atMs) trail = follow(trail, event)
  }
  if (trail.key !== null) return judge(trail.key, trail, atMs)
  const created = events.find((event) => event.type === 'KeyCreated')
  const notYet = { status: null, key: null } as const
  if (created === undefined) return { ...notYet, reason: 'there is no such key', decidedBy: null }
  const { recordedAt, metadata } = created
  const reason = `not created yet: created ${instantText(recordedAt)} by ${byText(metadata.by)}`
  return { ...notYet, reason, decidedBy: created }
}

type Trail = {
  readonly key: KeyState | null
  readonly activated: AuditEvent | null
  readonly expirySet: AuditEvent | null
  readonly suspended: AuditEvent | null
  /** The seal, or else `KeyRevoked`. */
  readonly ended: AuditEvent | null
}

const noTrail: Trail = { key: null, activated: null, expirySet: null, suspended: null, ended: null }

const follow = (trail: Trail, event: AuditEvent): Trail => {
  if (event.type === 'ReadingsSealed') return { ...trail, ended: event }
  if (!isIn('key', event)) return trail
  return { ...trail, ...decidedBy(trail, event), key: evolveKey(trail.key, event) }
}

const decidedBy = ({ key, ended }: Trail, event: RecordedEvent<KeyEventType>): Partial<Trail> => {
  switch (event.type) {
    case 'KeyCreated':
      return { activated: event, expirySet: event }
    case 'KeyResumed':
      return { activated: event }
    case 'KeySuspended':
      return { suspended: event }
    case 'KeySuperseded':
      return { expirySet: event }
    case 'KeyExpirySet': {
      const wasExpired = key !== null && keyStatus(key, event.recordedAt) === 'expired'
      return wasExpired ? { activated: event, expirySet: event } : { expirySet: event }
    }
    case 'KeyRevoked':
      return { ended: ended ?? event }
    default:
      return {}
  }
}

const judge = (key: KeyState, by: Omit<Trail, 'key'>, atMs: number): HistoryRow['after'] => {
  const status = keyStatus(key, atMs, by.ended !== null)
  const expiry = expiryText(key)
  switch (status) {
    case 'revoked':
      return { status, key, decidedBy: by.ended, reason: `revoked since ${causeText(by.ended)}` }
    case 'suspended':
      return { status, key, decidedBy: by.suspended, reason: `suspended since ${causeText(by.suspended)}` }
    case 'expired': {
      const reason = `expired since ${expiry}; this expiry was set ${causeText(by.expirySet)}`
      return { status, key, decidedBy: by.expirySet, reason }
    }
    case 'active': {
      const reason = `active since ${causeText(by.activated)}; ${key.expiresAt === null ? 'no expiry' : `expiry ${expiry}`}`
      return { status, key, decidedBy: by.activated, reason }
    }
    default:
      return assertNever(status)
  }
}

const expiryText = ({ expiresAt }: KeyState): string => (expiresAt === null ? 'never' : instantText(expiresAt))

const causeText = (event: AuditEvent | null): string => {
  if (event === null) throw new Error('Cannot explain the state of a key: the event that led to it is missing')
  const reason = event.type !== 'KeyResumed' && 'reason' in event.data ? event.data.reason : ''
  return `${instantText(event.recordedAt)} by ${byText(event.metadata.by)}${reason === '' ? '' : `: ${reason}`}`
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

/** Also names the person who made the link that set the password, who can have signed in with it. */
const operatorText = ({ email, session }: Extract<By, { readonly kind: 'operator' }>): string =>
  session === undefined || session.linkMadeBy === null
    ? email
    : `${email} (password set with a link by ${session.linkMadeBy})`

const inLogOrder = (events: readonly AuditEvent[]): readonly AuditEvent[] =>
  [...events].sort((a, b) => a.position - b.position)

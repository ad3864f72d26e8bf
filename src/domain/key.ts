import type { By, Decided, EventData, Limit, RecordedEvent } from './events.ts'
import { isExpired } from './expiry.ts'
import { assertNever, type CommandRefusal, done, type Outcome, refused } from './refusal.ts'

/** What happened to a key: when (ms), by whom, and the reason that was given (may be empty). */
export type Attribution = { readonly at: number; readonly by: By; readonly reason: string }

export type Rotation = {
  /** Named before it is made: a rotation that broke off there names a key that never was. */
  readonly successorId: string
  /** How long the key lives on after the successor's first use. */
  readonly overlapMs: number
  /** When the successor was first used, and the expiry that the key had from then on. `null`: not used yet. */
  readonly superseded: { readonly usedAt: number; readonly expiresAt: number } | null
}

/** One key, folded from `key-<id>`. Whether it is expired is never stored: ask `keyStatus` with the time. */
export type KeyState = {
  readonly keyId: string
  readonly cellar: string
  readonly label: string
  readonly note: string
  /** SHA-256 of the secret, hex. */
  readonly secretHash: string
  /** Its own limit; `null` follows the cellar's. */
  readonly limit: Limit | null
  /** Expired means `now >= expiresAt`. */
  readonly expiresAt: number | null
  /** The key that it was made to follow. It follows it only if that one names it in turn. */
  readonly predecessorId: string | null
  /** The key that was last made to follow it. */
  readonly rotation: Rotation | null
  readonly created: Attribution
  readonly suspended: Attribution | null
  readonly revoked: Attribution | null
  /** The expiry that a KeyExpired event has recorded, so that it is recorded once. */
  readonly expiryRecorded: number | null
  /** Revision of the last event folded. */
  readonly revision: number
}

export const keyStatuses = ['active', 'expired', 'suspended', 'revoked'] as const
export type KeyStatus = (typeof keyStatuses)[number]

/**
 * The only place that orders what refuses a key's readings: revoked, suspended, expired (docs/contract.md, "Keys"). A sealed
 * stream counts as revoked, because a node may die between the seal and `KeyRevoked`.
 */
export const keyStatus = (key: KeyState, now: number, isSealed = false): KeyStatus => {
  if (isSealed || key.revoked !== null) return 'revoked'
  if (key.suspended !== null) return 'suspended'
  return isExpired(key, now) ? 'expired' : 'active'
}

export type KeyCommand =
  | ({ readonly type: 'CreateKey' } & EventData<'KeyCreated'>)
  /** What is left out stays as it is, as with a cellar's policy. */
  | { readonly type: 'RelabelKey'; readonly label?: string; readonly note?: string }
  | { readonly type: 'SetKeyLimit'; readonly limit: Limit | null }
  | { readonly type: 'SetKeyExpiry'; readonly expiresAt: number | null }
  | { readonly type: 'RotateKey'; readonly successorId: string; readonly overlapMs: number }
  /** `readingId` is the event that shows the successor in use, `usedAt` its time. */
  | {
      readonly type: 'SupersedeKey'
      readonly successorId: string
      readonly usedAt: number
      readonly readingId: string
    }
  | { readonly type: 'SuspendKey'; readonly reason: string }
  | { readonly type: 'ResumeKey'; readonly reason: string }
  | { readonly type: 'RecordKeyExpiry' }
  | { readonly type: 'RevokeKey'; readonly reason: string; readonly sealId: string }

export type KeyEventType =
  | 'KeyCreated'
  | 'KeyRelabelled'
  | 'KeyLimitChanged'
  | 'KeyExpirySet'
  | 'KeyRotated'
  | 'KeySuperseded'
  | 'KeySuspended'
  | 'KeyResumed'
  | 'KeyExpired'
  | 'KeyRevoked'

export type DecidedKey = Decided<KeyEventType>

/**
 * The events that follow from a command, none if it is already so. `now` is ms. A revoked key refuses everything but
 * being revoked again, which is already so.
 */
export const decideKey = (
  key: KeyState | null,
  command: KeyCommand,
  now: number,
): Outcome<readonly DecidedKey[], CommandRefusal> => {
  if (command.type === 'CreateKey') {
    const { type: _, ...data } = command
    if (key !== null) throw new Error(`Cannot create key "${command.keyId}": its stream exists`)
    if (isExpired(data, now)) return refused({ kind: 'expiry_in_past', isNew: true })
    return done([{ type: 'KeyCreated', data }])
  }
  if (key === null) return refused({ kind: 'key_not_found' })
  if (command.type === 'RevokeKey') {
    if (key.revoked !== null) return done([])
    return done([{ type: 'KeyRevoked', data: { reason: command.reason, sealId: command.sealId } }])
  }
  if (key.revoked !== null) return refused({ kind: 'key_is_revoked' })

  switch (command.type) {
    case 'RelabelKey': {
      const { label = key.label, note = key.note } = command
      if (key.label === label && key.note === note) return done([])
      return done([{ type: 'KeyRelabelled', data: { label, note } }])
    }
    case 'SetKeyLimit':
      if (sameLimit(key.limit, command.limit)) return done([])
      return done([{ type: 'KeyLimitChanged', data: { limit: command.limit } }])
    case 'SetKeyExpiry':
      if (key.expiresAt === command.expiresAt) return done([])
      return done([{ type: 'KeyExpirySet', data: { expiresAt: command.expiresAt } }])
    case 'RotateKey':
      return decideRotation(key, command, now)
    case 'SupersedeKey': {
      const { rotation } = key
      if (rotation === null || rotation.successorId !== command.successorId || rotation.superseded !== null) {
        return done([])
      }
      const { successorId, usedAt } = command
      const expiresAt = Math.min(key.expiresAt ?? Number.POSITIVE_INFINITY, usedAt + rotation.overlapMs)
      return done([{ type: 'KeySuperseded', data: { successorId, usedAt, expiresAt } }])
    }
    case 'SuspendKey':
      if (key.suspended !== null) return done([])
      return done([{ type: 'KeySuspended', data: { reason: command.reason } }])
    case 'ResumeKey':
      if (key.suspended === null) return done([])
      return done([{ type: 'KeyResumed', data: { reason: command.reason } }])
    case 'RecordKeyExpiry':
      if (key.expiresAt === null || !isExpiryToRecord(key, now)) return done([])
      return done([{ type: 'KeyExpired', data: { expiresAt: key.expiresAt } }])
    default:
      return assertNever(command)
  }
}

/** It has passed, and no event says so yet. */
export const isExpiryToRecord = (key: KeyState, now: number): boolean =>
  key.revoked === null && isExpired(key, now) && key.expiryRecorded !== key.expiresAt

/**
 * A suspended key can be rotated: what it was suspended for is often why. An expired one can't, since its expiry is copied.
 * Until a successor was used the next rotation takes its place: the text of the one before may have been lost. From then
 * on the successor is the key to rotate, unless an admin has given this one more time again.
 */
const decideRotation = (
  key: KeyState,
  { successorId, overlapMs }: Extract<KeyCommand, { readonly type: 'RotateKey' }>,
  now: number,
): Outcome<readonly DecidedKey[], CommandRefusal> => {
  const { rotation } = key
  if (rotation?.successorId === successorId) {
    // Asked again with another overlap, before that key was made: the last word counts, until it was acted upon.
    if (rotation.overlapMs === overlapMs || rotation.superseded !== null) return done([])
  }
  const refusal = rotationRefusal(key, now)
  return refusal === null ? done([{ type: 'KeyRotated', data: { successorId, overlapMs } }]) : refused(refusal)
}

export type RotationRefusal = Extract<
  CommandRefusal,
  { readonly kind: 'key_is_revoked' | 'key_is_superseded' | 'key_is_expired' }
>

/** Why no successor can be made for the key at `now` (ms). `null`: one can. */
export const rotationRefusal = (key: KeyState, now: number): RotationRefusal | null => {
  const { rotation, revoked } = key
  if (revoked !== null) return { kind: 'key_is_revoked' }
  if (rotation !== null && isEnding(key)) return { kind: 'key_is_superseded', successorId: rotation.successorId }
  return isExpired(key, now) ? { kind: 'key_is_expired' } : null
}

/** Its successor was used, and nobody has given it a later expiry since. */
export const isEnding = ({ rotation, expiresAt }: KeyState): boolean =>
  rotation !== null && rotation.superseded !== null && expiresAt !== null && expiresAt <= rotation.superseded.expiresAt

/** The key that was last made to follow it. `null`: there is none, or the rotation broke off before it was made. */
export const followerOf = (key: KeyState, get: (keyId: string) => KeyState | null): KeyState | null => {
  const named = key.rotation === null ? null : get(key.rotation.successorId)
  // A key that took the id without following it is another key.
  return named?.predecessorId === key.keyId ? named : null
}

/** Folds one event of `key-<id>`. */
export const evolveKey = (key: KeyState | null, event: RecordedEvent<KeyEventType>): KeyState => {
  const { revision } = event
  if (event.type === 'KeyCreated') {
    const { keyId, cellar, label, note, secretHash, limit, expiresAt, predecessorId } = event.data
    return {
      keyId,
      cellar,
      label,
      note,
      secretHash,
      limit,
      expiresAt,
      predecessorId,
      rotation: null,
      created: mark(event, ''),
      suspended: null,
      revoked: null,
      expiryRecorded: null,
      revision,
    }
  }
  if (key === null) throw new Error(`Cannot fold ${event.type} of "${event.stream}": the key was never created`)
  switch (event.type) {
    case 'KeyRelabelled':
      return { ...key, label: event.data.label, note: event.data.note, revision }
    case 'KeyLimitChanged':
      return { ...key, limit: event.data.limit, revision }
    case 'KeyExpirySet':
      return { ...key, expiresAt: event.data.expiresAt, revision }
    case 'KeyRotated':
      return { ...key, rotation: { ...event.data, superseded: null }, revision }
    case 'KeySuperseded': {
      const { usedAt, expiresAt } = event.data
      const rotation = key.rotation === null ? null : { ...key.rotation, superseded: { usedAt, expiresAt } }
      return { ...key, expiresAt, rotation, revision }
    }
    case 'KeySuspended':
      return { ...key, suspended: mark(event, event.data.reason), revision }
    case 'KeyResumed':
      return { ...key, suspended: null, revision }
    case 'KeyExpired':
      return { ...key, expiryRecorded: event.data.expiresAt, revision }
    case 'KeyRevoked':
      return { ...key, revoked: mark(event, event.data.reason), revision }
    default:
      return assertNever(event)
  }
}

/**
 * Whether this change takes a right away, so that a fence must follow before the answer (docs/protocol.md, "Taking a right
 * away"). `before` and `after` are effective limits.
 */
export const takesAway = (event: DecidedKey, key: KeyState, effectiveLimit: Limit, cellarLimit: Limit): boolean => {
  switch (event.type) {
    case 'KeySuspended':
      return true
    case 'KeyExpirySet':
    case 'KeySuperseded':
      return event.data.expiresAt !== null && (key.expiresAt === null || event.data.expiresAt < key.expiresAt)
    case 'KeyLimitChanged':
      return isLower(event.data.limit ?? cellarLimit, effectiveLimit)
    case 'KeyCreated':
    case 'KeyRelabelled':
    case 'KeyRotated':
    case 'KeyResumed':
    case 'KeyExpired':
    case 'KeyRevoked':
      return false
    default:
      return assertNever(event)
  }
}

/** A limit is lower unless it allows at least as many readings in at most as long a window. */
const isLower = (next: Limit, before: Limit): boolean =>
  next.readings < before.readings || next.windowMs > before.windowMs

export const sameLimit = (a: Limit | null, b: Limit | null): boolean =>
  a === b || (a !== null && b !== null && a.readings === b.readings && a.windowMs === b.windowMs)

const mark = (event: RecordedEvent, reason: string): Attribution => ({
  at: event.recordedAt,
  by: event.metadata.by,
  reason,
})

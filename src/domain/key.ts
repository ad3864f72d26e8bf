import {
  type By,
  type Decided,
  declarationOf,
  type EventData,
  type Limit,
  type RecordedEvent,
  type TypesIn,
  type TypesWith,
} from './events.ts'
import { isExpired } from './expiry.ts'
import { assertNever, type CommandRefusal, done, type Outcome, refused } from './refusal.ts'

export type Attribution = { readonly at: number; readonly by: By; readonly reason: string }

type Rotation = {
  /** If the rotation stopped before `KeyCreated`, no key has this id. */
  readonly successorId: string
  readonly overlapMs: number
  /** The first use of the new key, and the expiry that it gave to the old key. */
  readonly superseded: { readonly usedAt: number; readonly expiresAt: number } | null
}

/** A `KeyExpired` event can come long after the expiry, so ask `keyStatus`. */
export type KeyState = {
  readonly keyId: string
  readonly cellar: string
  readonly label: string
  readonly note: string
  readonly secretHash: string
  readonly limit: Limit | null
  readonly expiresAt: number | null
  /** This key replaces it only if its `rotation` names this key: a second rotation can name another. */
  readonly predecessorId: string | null
  readonly rotation: Rotation | null
  readonly created: Attribution
  readonly suspended: Attribution | null
  readonly revoked: Attribution | null
  /** So that no node writes the same `KeyExpired` again. */
  readonly expiryRecorded: number | null
  readonly revision: number
}

export type KeyCommand =
  | ({ readonly type: 'CreateKey' } & EventData<'KeyCreated'>)
  /** A missing field is not changed. */
  | { readonly type: 'RelabelKey'; readonly label?: string; readonly note?: string }
  | { readonly type: 'SetKeyLimit'; readonly limit: Limit | null }
  | { readonly type: 'SetKeyExpiry'; readonly expiresAt: number | null }
  | { readonly type: 'RotateKey'; readonly successorId: string; readonly overlapMs: number }
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

export type KeyEventType = TypesIn<'key'>

export type DecidedKey = Decided<KeyEventType>

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

export const isExpiryToRecord = (key: KeyState, now: number): boolean =>
  key.revoked === null && isExpired(key, now) && key.expiryRecorded !== key.expiresAt

/**
 * Until the successor is used, a second rotation replaces the first: the text of a new key is shown only once
 * (docs/decisions/012-a-rotation-is-two-appends.md).
 */
const decideRotation = (
  key: KeyState,
  { successorId, overlapMs }: Extract<KeyCommand, { readonly type: 'RotateKey' }>,
  now: number,
): Outcome<readonly DecidedKey[], CommandRefusal> => {
  const { rotation } = key
  if (rotation?.successorId === successorId) {
    // Another `overlapMs` changes the same rotation, but only until the successor is used.
    if (rotation.overlapMs === overlapMs || rotation.superseded !== null) return done([])
  }
  const refusal = rotationRefusal(key, now)
  return refusal === null ? done([{ type: 'KeyRotated', data: { successorId, overlapMs } }]) : refused(refusal)
}

export type RotationRefusal = Extract<
  CommandRefusal,
  { readonly kind: 'key_is_revoked' | 'key_is_superseded' | 'key_is_expired' }
>

/** The new key of an expired key would be expired, too. */
export const rotationRefusal = (key: KeyState, now: number): RotationRefusal | null => {
  const { rotation, revoked } = key
  if (revoked !== null) return { kind: 'key_is_revoked' }
  if (rotation !== null && isEnding(key)) return { kind: 'key_is_superseded', successorId: rotation.successorId }
  return isExpired(key, now) ? { kind: 'key_is_expired' } : null
}

/** True if the new key was used, and this key got no later expiry since. Then it cannot be rotated again. */
const isEnding = ({ rotation, expiresAt }: KeyState): boolean =>
  rotation !== null && rotation.superseded !== null && expiresAt !== null && expiresAt <= rotation.superseded.expiresAt

/** The successor of `key`. `null` also if the rotation stopped before `KeyCreated`. */
export const followerOf = (key: KeyState, get: (keyId: string) => KeyState | null): KeyState | null => {
  const named = key.rotation === null ? null : get(key.rotation.successorId)
  return named?.predecessorId === key.keyId ? named : null
}

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
      created: attribution(event, ''),
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
      return { ...key, suspended: attribution(event, event.data.reason), revision }
    case 'KeyResumed':
      return { ...key, suspended: null, revision }
    case 'KeyExpired':
      return { ...key, expiryRecorded: event.data.expiresAt, revision }
    case 'KeyRevoked':
      return { ...key, revoked: attribution(event, event.data.reason), revision }
    default:
      return assertNever(event)
  }
}

/** If true, a fence must follow before the answer (docs/protocol.md, "Taking a right away"). */
export const takesAway = (event: DecidedKey, key: KeyState, effectiveLimit: Limit, cellarLimit: Limit): boolean => {
  if (!mayTakeAway(event)) return false
  switch (event.type) {
    case 'KeySuspended':
      return true
    case 'KeyExpirySet':
    case 'KeySuperseded':
      return event.data.expiresAt !== null && (key.expiresAt === null || event.data.expiresAt < key.expiresAt)
    case 'KeyLimitChanged':
      return isLower(event.data.limit ?? cellarLimit, effectiveLimit)
    default:
      return assertNever(event)
  }
}

const mayTakeAway = (event: DecidedKey): event is Decided<KeyEventType & TypesWith<'mayTakeAway'>> =>
  declarationOf(event.type).mayTakeAway === true

const isLower = (next: Limit, before: Limit): boolean =>
  next.readings < before.readings || next.windowMs > before.windowMs

export const sameLimit = (a: Limit | null, b: Limit | null): boolean =>
  a === b || (a !== null && b !== null && a.readings === b.readings && a.windowMs === b.windowMs)

const attribution = (event: RecordedEvent, reason: string): Attribution => ({
  at: event.recordedAt,
  by: event.metadata.by,
  reason,
})

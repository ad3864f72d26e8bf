import { isExpired } from './expiry.ts'
import type { KeyState } from './key.ts'
import type { ReadingRefusal } from './refusal.ts'

export const keyStatuses = ['active', 'expired', 'suspended', 'revoked'] as const
export type KeyStatus = (typeof keyStatuses)[number]

/**
 * The reasons count in the order of docs/contract.md, "Keys". After a seal, the key counts as revoked, even if a node died
 * before it appended `KeyRevoked`.
 */
export const keyStatus = (key: KeyState, now: number, isSealed = false): KeyStatus => {
  if (isSealed || key.revoked !== null) return 'revoked'
  if (key.suspended !== null) return 'suspended'
  return isExpired(key, now) ? 'expired' : 'active'
}

const unknown: ReadingRefusal = { kind: 'key_invalid', why: 'unknown' }
const refusalOfStatus: Readonly<Record<Exclude<KeyStatus, 'active'>, ReadingRefusal>> = {
  expired: { kind: 'key_expired' },
  suspended: { kind: 'key_invalid', why: 'suspended' },
  revoked: { kind: 'key_invalid', why: 'revoked' },
}

export const refusalOfKey = (key: KeyState | null, isSealed: boolean, now: number): ReadingRefusal | null => {
  if (key === null) return unknown
  const status = keyStatus(key, now, isSealed)
  return status === 'active' ? null : refusalOfStatus[status]
}

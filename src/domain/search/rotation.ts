/** How the keys of a rotation follow each other, and which of them its racks use. */
import { dayMs, minuteMs } from '../calendar.ts'
import { isExpired } from '../expiry.ts'
import { followerOf, type KeyState } from '../key.ts'
import { type KeyStatus, keyStatus } from '../key-refusal.ts'

type KeyOf = (keyId: string) => KeyState | null

/** The key that `key` replaces. `null` also if another key replaces that one now. */
export const replacedBy = (key: KeyState, get: KeyOf): KeyState | null => {
  const old = key.predecessorId === null ? null : get(key.predecessorId)
  return old?.rotation?.successorId === key.keyId ? old : null
}

/** True for an old key that still works, or is only suspended. */
export const isOpen = (old: KeyState, nowMs: number): boolean =>
  old.rotation !== null && old.revoked === null && !isExpired(old, nowMs)

/** True for the old or the new key of an open rotation. */
export const isRotating = (key: KeyState, get: KeyOf, nowMs: number): boolean => {
  const old = replacedBy(key, get)
  return isOpen(key, nowMs) || (old !== null && isOpen(old, nowMs))
}

/** True for an old key that is still open, while its new key is in use. */
export const isSwitching = (key: KeyState, nowMs: number): boolean =>
  isOpen(key, nowMs) && (key.rotation?.superseded ?? null) !== null

export const mayRetire = (key: KeyState, get: KeyOf, nowMs: number): boolean =>
  isSwitching(key, nowMs) && newKeyStatus(key, get, nowMs) === 'active'

/** `active` if any later key works, because racks may use it. Else of the newest. `null`: there is no later key. */
export const newKeyStatus = (old: KeyState, get: KeyOf, nowMs: number): KeyStatus | null => {
  const statuses = laterKeys(old, get).map((key) => keyStatus(key, nowMs))
  return statuses.includes('active') ? 'active' : (statuses.at(-1) ?? null)
}

/** Each key after `key`, the next first. */
export const laterKeys = (key: KeyState, get: KeyOf): readonly KeyState[] => {
  const later: KeyState[] = []
  for (let next = followerOf(key, get); next !== null; next = followerOf(next, get)) later.push(next)
  return later
}

/** Each key before `key`, the oldest first. */
export const earlierKeys = (key: KeyState, get: KeyOf): readonly KeyState[] => {
  const earlier: KeyState[] = []
  for (let old = replacedBy(key, get); old !== null; old = replacedBy(old, get)) earlier.push(old)
  return earlier.reverse()
}

export type SeenPair = { readonly key: string; readonly rack: string; readonly minute: number }

/**
 * `both`: the last minute with a new key is not after the last with the old one. `silent`: since a new key is in use, or for
 * `silentDays`. `new`: never seen with the old key.
 */
export type RackState = 'old' | 'both' | 'silent' | 'switched' | 'new'

export const silentDays = 7

export type RackOfRotation = {
  readonly rack: string
  readonly state: RackState
  /** The last minute with this key. `null`: none is known. */
  readonly oldMinute: number | null
  readonly newMinute: number | null
}

type Rotated = {
  readonly oldId: string
  /** Of the first reading with a new key. `null`: none yet. */
  readonly usedMinute: number | null
  readonly nowMinute: number
}

/** First the racks that may still need the old key, and of equal ones the latest. */
export const racksOfRotation = (pairs: readonly SeenPair[], rotated: Rotated): readonly RackOfRotation[] => {
  const racks = new Map<string, { old: number | null; new: number | null }>()
  for (const { key, rack, minute } of pairs) {
    const seen = racks.get(rack) ?? { old: null, new: null }
    if (key === rotated.oldId) seen.old = minute
    else seen.new = Math.max(minute, seen.new ?? minute)
    racks.set(rack, seen)
  }
  const found = Array.from(racks, ([rack, seen]): RackOfRotation => {
    const state = stateOf(seen.old, seen.new, rotated)
    return { rack, state, oldMinute: seen.old, newMinute: seen.new }
  })
  return found.sort(
    (a, b) =>
      rackStates.indexOf(a.state) - rackStates.indexOf(b.state) || lastOf(b) - lastOf(a) || (a.rack < b.rack ? -1 : 1),
  )
}

const stateOf = (old: number | null, next: number | null, { usedMinute, nowMinute }: Rotated): RackState => {
  if (old === null) return 'new'
  if (next !== null && next > old) return 'switched'
  const isUnseenSinceUse = next === null && usedMinute !== null && old < usedMinute
  if (isUnseenSinceUse || old < nowMinute - (silentDays * dayMs) / minuteMs) return 'silent'
  return next === null ? 'old' : 'both'
}

export const rackStates: readonly RackState[] = ['old', 'both', 'silent', 'switched', 'new']

const lastOf = ({ oldMinute, newMinute }: RackOfRotation): number => Math.max(oldMinute ?? 0, newMinute ?? 0)

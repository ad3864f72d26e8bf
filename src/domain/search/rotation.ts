/** How the keys of a rotation follow each other, and which of them its racks use. */
import { isExpired } from '../expiry.ts'
import { followerOf, type KeyState } from '../key.ts'

type KeyOf = (keyId: string) => KeyState | null

/** The key that `key` replaces. `null` also if another key replaces that one now. */
export const replacedBy = (key: KeyState, get: KeyOf): KeyState | null => {
  const old = key.predecessorId === null ? null : get(key.predecessorId)
  return old?.rotation?.successorId === key.keyId ? old : null
}

/** True for an old key that still works, or is only suspended, while its new key is in use. */
export const mayRetire = (key: KeyState, nowMs: number): boolean =>
  key.rotation !== null && key.rotation.superseded !== null && key.revoked === null && !isExpired(key, nowMs)

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

/** `both`: the last minute with a new key is not after the last with the old one. `silent`: since a new key is in use. */
export type RackState = 'old' | 'both' | 'silent' | 'switched'

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
    const state = stateOf(seen.old, seen.new, rotated.usedMinute)
    return { rack, state, oldMinute: seen.old, newMinute: seen.new }
  })
  return found.sort(
    (a, b) =>
      rackStates.indexOf(a.state) - rackStates.indexOf(b.state) || lastOf(b) - lastOf(a) || (a.rack < b.rack ? -1 : 1),
  )
}

const stateOf = (old: number | null, next: number | null, used: number | null): RackState => {
  if (old === null) return 'switched'
  if (next === null) return used !== null && old < used ? 'silent' : 'old'
  return next > old ? 'switched' : 'both'
}

export const rackStates: readonly RackState[] = ['old', 'both', 'silent', 'switched']

const lastOf = ({ oldMinute, newMinute }: RackOfRotation): number => Math.max(oldMinute ?? 0, newMinute ?? 0)

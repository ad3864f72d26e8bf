import type { KeyRow } from '../../../../views/keys/key-list-types.ts'
import type { KeyView, PredecessorView, SuccessorView } from '../../../../views/types.ts'
import { followerOf, type KeyState, rotationRefusal } from '../../../domain/key.ts'
import { keyStatus } from '../../../domain/key-refusal.ts'
import { isOpen, newKeyStatus } from '../../../domain/search/rotation.ts'
import type { DashboardDeps } from '../visit.ts'

export const keyViewOf = async (deps: DashboardDeps, key: KeyState, nowMs: number): Promise<KeyView> => {
  const { core, lastRefusals, lastChecks } = deps
  const lastRefusal = lastRefusals.of(key.keyId)
  return {
    ...keyStateView(deps, key, nowMs),
    lastCheckedAt: lastChecks.get(key.keyId) ?? null,
    accepted: core.projections.readings.usage(key.keyId)?.accepted ?? 0,
    used: await usedInWindow(deps, key, nowMs),
    lastRefusal:
      lastRefusal === null
        ? null
        : { at: lastRefusal.atMs, code: lastRefusal.code, isCost: lastRefusal.isCost, cause: lastRefusal.cause },
  }
}

/** What is known without a question. */
export const keyStateView = (
  deps: DashboardDeps,
  key: KeyState,
  nowMs: number,
): Omit<KeyRow, 'cellarTitle' | 'day' | 'racks'> => {
  const { keys, readings } = deps.core.projections
  const { keyId, cellar, label, note, expiresAt, created, suspended, revoked } = key
  return {
    keyId,
    cellar,
    label,
    note,
    status: keyStatus(key, nowMs),
    limit: keys.effectiveLimit(key),
    ownLimit: key.limit,
    expiresAt,
    created,
    suspended,
    revoked,
    canRotate: rotationRefusal(key, nowMs) === null,
    successor: successorOf(deps, key, nowMs),
    predecessor: predecessorOf(deps, key, nowMs),
    lastUsedAt: readings.usage(keyId)?.lastUsedAt ?? null,
  }
}

export const successorOf = (deps: DashboardDeps, key: KeyState, nowMs: number): SuccessorView | null => {
  if (key.rotation === null) return null
  const { successorId, overlapMs, superseded } = key.rotation
  return {
    keyId: successorId,
    label: followerIn(deps, key)?.label ?? null,
    awaitedId: awaitedIn(deps, key),
    overlapMs,
    usedAt: superseded?.usedAt ?? null,
    isOpen: isOpen(key, nowMs),
    newStatus: newKeyStatus(key, (keyId) => deps.core.projections.keys.get(keyId), nowMs),
  }
}

const followerIn = ({ core }: DashboardDeps, key: KeyState): KeyState | null =>
  followerOf(key, (keyId) => core.projections.keys.get(keyId))

/**
 * The id of the key whose first reading stops the old key. A successor that was revoked before its first use can never have
 * one: then its own successor takes its place.
 */
const awaitedIn = (deps: DashboardDeps, key: KeyState): string | null => {
  const isSpent = ({ revoked, keyId }: KeyState): boolean =>
    revoked !== null && deps.core.projections.readings.usage(keyId) === null
  let next = followerIn(deps, key)
  while (next !== null && isSpent(next)) next = followerIn(deps, next)
  return next?.keyId ?? null
}

const predecessorOf = (deps: DashboardDeps, key: KeyState, nowMs: number): PredecessorView | null => {
  const old = key.predecessorId === null ? null : deps.core.projections.keys.get(key.predecessorId)
  if (old === null) return null
  const { keyId, expiresAt, rotation } = old
  const follows = rotation?.successorId === key.keyId
  return {
    keyId,
    status: keyStatus(old, nowMs),
    expiresAt,
    rotation: follows ? successorOf(deps, old, nowMs) : null,
  }
}

/** `null`: the store is unavailable. If the last reading is older than the window, 0 without loading the key's actor. */
export const usedInWindow = async ({ core }: DashboardDeps, key: KeyState, nowMs: number): Promise<number | null> => {
  const { windowMs } = core.projections.keys.effectiveLimit(key)
  const usage = core.projections.readings.usage(key.keyId)
  if (usage === null || usage.lastUsedAt + windowMs <= nowMs) return 0
  return (await core.keys.usage(key.keyId, usage.last.revision))?.used ?? null
}

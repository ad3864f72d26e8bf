import { dayMs } from '../calendar.ts'
import { isExpired } from '../expiry.ts'
import type { KeyState } from '../key.ts'
import { keyStatus } from '../key-refusal.ts'
import type { AttentionLine } from './attention-lines.ts'

const expiresWithinMs = 14 * dayMs
/** With a day, the line of a device that sends once a day would come and go. */
const inUseMs = 7 * dayMs
const unusedMs = 90 * dayMs
const rotationMs = 7 * dayMs

export type KeyNow = { readonly key: KeyState; readonly lastUsedAt: number | null }

/** From what each node has in memory, which is the same on all nodes. */
export const keyLines = (keys: readonly KeyNow[], nowMs: number): readonly AttentionLine[] => {
  const lines: AttentionLine[] = []
  let unused = 0
  let unusedSinceMs = nowMs
  for (const { key, lastUsedAt } of keys) {
    const status = keyStatus(key, nowMs)
    if (status !== 'active' && status !== 'expired') continue
    const { keyId, expiresAt, rotation } = key
    const idleSinceMs = lastUsedAt ?? key.created.at
    if (status === 'active' && nowMs - idleSinceMs >= unusedMs) {
      unused += 1
      unusedSinceMs = Math.min(unusedSinceMs, idleSinceMs)
    }
    const isInUse = lastUsedAt !== null && nowMs - lastUsedAt < inUseMs
    // A key that has expired is not resolved while its devices may still send.
    // The old key of a rotation ends by itself. Its new key is in use already.
    if (isInUse && expiresAt !== null && isNear(expiresAt, nowMs) && (rotation?.superseded ?? null) === null)
      lines.push({ kind: 'key_expires', sinceMs: expiresAt - expiresWithinMs, keyId, dueMs: expiresAt })
  }
  if (unused > 0) lines.push({ kind: 'keys_unused', sinceMs: unusedSinceMs + unusedMs, count: unused })
  return [...lines, ...hangingRotations(keys, nowMs)]
}

const isNear = (expiresAt: number, nowMs: number): boolean => expiresAt - nowMs <= expiresWithinMs

/** The new key was made a week ago, and the old one still works. */
const hangingRotations = (keys: readonly KeyNow[], nowMs: number): readonly AttentionLine[] => {
  const made = new Map(keys.map(({ key }) => [key.keyId, key.created.at]))
  return keys.flatMap(({ key }) => {
    const { keyId, rotation, revoked } = key
    const madeAt = rotation === null ? undefined : made.get(rotation.successorId)
    if (madeAt === undefined || rotation?.superseded !== null || revoked !== null || isExpired(key, nowMs)) return []
    return nowMs - madeAt < rotationMs ? [] : [{ kind: 'rotation_hangs', sinceMs: madeAt, keyId } as const]
  })
}

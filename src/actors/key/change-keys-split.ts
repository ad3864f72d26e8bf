/** Which of the chosen keys a change is for. Pages and the command line tell people the same. */
import { hourMs } from '../../domain/calendar.ts'
import { isExpired } from '../../domain/expiry.ts'
import { type KeyState, rotationRefusal } from '../../domain/key.ts'
import { mayRetire } from '../../domain/search/rotation.ts'
import type { Core } from '../core-interface.ts'
import type { KeysChange } from './change-keys.ts'

/** More are revoked only when asked again: with `--yes`, or with their number typed. */
export const revokedUnaskedMax = 10

/** `expiry` also sets other fields, and `limit` any fields except the expiry. */
type ChangeAsked = Exclude<KeysChange['do'], 'change'> | 'expiry' | 'limit'

type Wanted = {
  readonly change: ChangeAsked
  /** A person named the keys, or asked for expired ones. Otherwise a later expiry must not bring old keys back. */
  readonly isExpiredMeant: boolean
}

/** `why`: words after a number of keys. `isRefused`: if it is asked all the same. */
export type StayingKey = { readonly key: KeyState; readonly why: string; readonly isRefused: boolean }

type SplitKeys = { readonly able: readonly KeyState[]; readonly staying: readonly StayingKey[] }

export const splitKeys = (core: Core, keys: readonly KeyState[], wanted: Wanted): SplitKeys => {
  const able: KeyState[] = []
  const staying: StayingKey[] = []
  for (const key of keys) {
    const why = whyStaying(core, key, wanted)
    if (why === null) able.push(key)
    else staying.push({ key, ...why })
  }
  return { able, staying }
}

export const changeAskedOf = (change: KeysChange): ChangeAsked => {
  if (change.do !== 'change') return change.do
  return change.changes.expiresAt === undefined ? 'limit' : 'expiry'
}

const whyStaying = (
  { clock, projections }: Core,
  key: KeyState,
  { change, isExpiredMeant }: Wanted,
): Omit<StayingKey, 'key'> | null => {
  const nowMs = clock.now()
  const same = (why: string) => ({ why, isRefused: false })
  const refused = (why: string) => ({ why, isRefused: true })
  if (key.revoked !== null) return { why: 'already revoked', isRefused: change !== 'revoke' && change !== 'retire' }
  switch (change) {
    case 'suspend':
      return key.suspended === null ? null : same('already suspended')
    case 'resume':
      return key.suspended === null ? same('not suspended') : null
    case 'retire':
      if (mayRetire(key, (keyId) => projections.keys.get(keyId), nowMs)) return null
      return same(isExpired(key, nowMs) ? 'already stopped' : 'without a new key that works and is in use')
    case 'expiry':
      return isExpiredMeant || !isExpired(key, nowMs) ? null : same('expired')
    case 'rotate': {
      const refusal = rotationRefusal(key, nowMs)
      if (refusal === null) return null
      return refused(refusal.kind === 'key_is_expired' ? 'expired' : 'already rotated, with the new key in use')
    }
    default:
      return null
  }
}

/** Each reason with the number of its keys. */
export const countsOf = (staying: readonly StayingKey[]): readonly { readonly why: string; readonly count: number }[] =>
  Array.from(
    Map.groupBy(staying, ({ why }) => why),
    ([why, { length: count }]) => ({ why, count }),
  )

/** In ms. 0: never. */
export const lastUseOf = ({ projections }: Core, { keyId }: KeyState): number =>
  projections.readings.usage(keyId)?.lastUsedAt ?? 0

export const usedInLastHour = (core: Core, keys: readonly KeyState[]): number =>
  keys.filter((key) => lastUseOf(core, key) > core.clock.now() - hourMs).length

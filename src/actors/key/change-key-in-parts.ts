import type { Limit } from '../../domain/events.ts'
import { isExpired } from '../../domain/expiry.ts'
import type { KeyState } from '../../domain/key.ts'
import { type CommandRefusal, done, type Outcome, refused } from '../../domain/refusal.ts'
import type { Asker, Core } from '../core-interface.ts'

/** A missing field keeps its value. `limit: null`: the limit of the cellar. `expiresAt` is in ms; `null`: never. */
export type KeyChanges = {
  readonly label?: string
  readonly note?: string
  readonly limit?: Limit | null
  readonly expiresAt?: number | null
}

export type ChangeRefused = {
  readonly refusal: CommandRefusal
  readonly refused: KeyPart
  readonly done: KeyPart
}

export type KeyPart = readonly (keyof KeyChanges)[]

/** After a failure, the same change can be sent again: stored parts append nothing. */
export const changeKeyInParts = async (
  core: Core,
  { keyId, changes }: { readonly keyId: string; readonly changes: KeyChanges },
  asker: Asker,
): Promise<Outcome<KeyState, ChangeRefused>> => {
  let key = core.projections.keys.get(keyId)
  const refusedWhole = (refusal: CommandRefusal) => refused({ refusal, refused: [], done: [] })
  if (key === null) return refusedWhole({ kind: 'key_not_found' })
  // If a later part refused the expiry, the change would be half done.
  const { expiresAt = null } = changes
  if (isExpired({ expiresAt }, core.clock.now())) return refusedWhole({ kind: 'expiry_in_past', isNew: false })
  const isDone: (keyof KeyChanges)[] = []
  for (const { part, change } of changesOf(core, { keyId, changes }, asker)) {
    const outcome = await change()
    if (!outcome.ok) return refused({ refusal: outcome.refusal, refused: part, done: isDone })
    isDone.push(...part)
    key = outcome.value
  }
  return done(key)
}

type Change = { readonly part: KeyPart; change(): Promise<Outcome<KeyState, CommandRefusal>> }

const changesOf = (
  { keys }: Core,
  { keyId, changes }: { readonly keyId: string; readonly changes: KeyChanges },
  asker: Asker,
): readonly Change[] => {
  const { limit, expiresAt, ...text } = changes
  const textPart = (['label', 'note'] as const).filter((name) => name in text)
  return [
    ...(textPart.length === 0 ? [] : [{ part: textPart, change: () => keys.relabel(keyId, text, asker) }]),
    ...(limit === undefined ? [] : [{ part: ['limit'] as const, change: () => keys.setLimit(keyId, limit, asker) }]),
    ...(expiresAt === undefined
      ? []
      : [{ part: ['expiresAt'] as const, change: () => keys.setExpiry(keyId, expiresAt, asker) }]),
  ]
}

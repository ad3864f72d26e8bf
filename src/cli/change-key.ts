import { type Static, Type } from '@sinclair/typebox'
import type { Asker, Core } from '../actors/core.ts'
import { Limit } from '../domain/events.ts'
import type { KeyState } from '../domain/key.ts'
import { type CommandRefusal, done, type Outcome, refused } from '../domain/refusal.ts'

/** What is left out stays as it is. `null`: the cellar's limit, no expiry. `expiresAt` is ms. */
export const KeyChanges = Type.Partial(
  Type.Object({
    label: Type.String(),
    note: Type.String(),
    limit: Type.Union([Limit, Type.Null()]),
    expiresAt: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]),
  }),
)
export type KeyChanges = Static<typeof KeyChanges>

/** `place` goes before the refusal's words: what is done all the same, and what they are about. '': nothing is done. */
export type ChangeRefused = { readonly refusal: CommandRefusal; readonly place: string }

/**
 * Each part is an event of its own, so the store may take one and not the next. Then the answer says which, and the same
 * command again does the rest.
 */
export const changeKey = async (
  core: Core,
  { keyId, changes }: { readonly keyId: string; readonly changes: KeyChanges },
  asker: Asker,
): Promise<Outcome<KeyState, ChangeRefused>> => {
  let key = core.projections.keys.get(keyId)
  if (key === null) return refused({ refusal: { kind: 'key_not_found' }, place: '' })
  // Judged before anything is changed; so is the text, which comes first, and the limit where it was typed.
  if (isPast(changes.expiresAt, core.clock.now())) return refused({ refusal: { kind: 'expiry_in_past' }, place: '' })
  const isDone: string[] = []
  for (const { name, change } of partsOf(core, { keyId, changes }, asker)) {
    const outcome = await change()
    if (!outcome.ok) return refused({ refusal: outcome.refusal, place: placeOf(name, isDone) })
    isDone.push(name)
    key = outcome.value
  }
  return done(key)
}

type Part = { readonly name: string; change(): Promise<Outcome<KeyState, CommandRefusal>> }

const partsOf = (
  { keys }: Core,
  { keyId, changes }: { readonly keyId: string; readonly changes: KeyChanges },
  asker: Asker,
): readonly Part[] => {
  const { limit, expiresAt, ...text } = changes
  return [
    ...(Object.keys(text).length === 0
      ? []
      : [{ name: Object.keys(text).join(' and '), change: () => keys.relabel(keyId, text, asker) }]),
    ...(limit === undefined ? [] : [{ name: 'limit', change: () => keys.setLimit(keyId, limit, asker) }]),
    ...(expiresAt === undefined ? [] : [{ name: 'expiry', change: () => keys.setExpiry(keyId, expiresAt, asker) }]),
  ]
}

const isPast = (expiresAt: number | null | undefined, nowMs: number): boolean =>
  typeof expiresAt === 'number' && expiresAt <= nowMs

const placeOf = (name: string, isDone: readonly string[]): string =>
  isDone.length === 0 ? '' : `Done: ${isDone.join(', ')}. The ${name}: `

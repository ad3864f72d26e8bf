import { type Static, Type } from '@sinclair/typebox'
import type { Asker, Core } from '../../actors/core-interface.ts'
import type { ChangeRefused, KeyPart } from '../../actors/key/change-key-in-parts.ts'
import { type ChangedKey, changeKeys, isRefused, type KeysChange } from '../../actors/key/change-keys.ts'
import { findKeys } from '../../actors/search/find-keys.ts'
import { hourMs } from '../../domain/calendar.ts'
import { Limit } from '../../domain/events/declare-event.ts'
import type { CommandRefusal } from '../../domain/refusal.ts'
import { KeyFilter } from '../../domain/search/key-filter.ts'
import { keyView } from '../../export/key-view.ts'
import { commandProblemOf } from '../../http/command-problem.ts'
import { nextTurn } from '../../log/pages-of-log.ts'
import { type End, exitCodes } from '../exit-codes.ts'
import type { Line } from '../show/lines.ts'
import { done, mayLackKeys, refusedEnd } from './ends.ts'

const text = Type.String()
const limit = Type.Union([Limit, Type.Null()])
const expiresAt = Type.Union([Type.Integer({ minimum: 0 }), Type.Null()])

const Change = Type.Union([
  Type.Object({
    do: Type.Union([Type.Literal('suspend'), Type.Literal('resume'), Type.Literal('revoke')]),
    reason: text,
  }),
  Type.Object({
    do: Type.Literal('change'),
    changes: Type.Partial(Type.Object({ label: text, note: text, limit, expiresAt })),
  }),
  Type.Object({ do: Type.Literal('rotate'), overlapMs: Type.Integer({ minimum: 0 }) }),
])

export const KeySelection = Type.Union([Type.Object({ keyIds: Type.Array(text) }), Type.Object({ filter: KeyFilter })])
export type KeySelection = Static<typeof KeySelection>

export const ChangeKeysOperation = Type.Object({
  op: Type.Literal('change_keys'),
  keys: KeySelection,
  change: Change,
  /** Only says which keys would be changed. */
  isDryRun: Type.Boolean(),
  /** The person accepts that many keys are revoked (`--yes`). */
  isConfirmed: Type.Boolean(),
})
type ChangeKeysOperation = Static<typeof ChangeKeysOperation>

/** More are revoked only with `--yes`. */
export const revokedUnaskedMax = 10

export async function* changeKeysAsked(
  core: Core,
  { keys, change, isDryRun, isConfirmed }: ChangeKeysOperation,
  { asker, signal }: { readonly asker: Asker; readonly signal: AbortSignal },
): AsyncGenerator<Line, End> {
  if ('filter' in keys && keys.filter.cellar !== null && core.projections.cellars.get(keys.filter.cellar) === null)
    return refusedEnd({ kind: 'cellar_not_found' })
  const keyIds = await idsOf(core, keys)
  if (keyIds === null) return { ...mayLackKeys, message: `Nothing was changed. ${mayLackKeys.message}` }
  if (isDryRun) {
    for (const keyId of keyIds) {
      const key = core.projections.keys.get(keyId)
      yield key === null ? unchanged(core, keyId, notFound) : { kind: 'key', value: keyView(core, key) }
    }
    return { ...done, message: `Nothing was changed. ${forecast(core, keyIds, change)}` }
  }
  if (change.do === 'revoke' && keyIds.length > revokedUnaskedMax && !isConfirmed)
    return {
      exitCode: exitCodes.refused,
      message: `Nothing was changed. ${forecast(core, keyIds, change)} To see the keys, add --dry-run. To confirm, add --yes.`,
    }
  return yield* changeAll(core, { keyIds, change, isOne: 'keyIds' in keys && keyIds.length === 1 }, { asker, signal })
}

type ToChange = {
  readonly keyIds: readonly string[]
  readonly change: KeysChange
  /** The answer for one key that a person named is shorter. */
  readonly isOne: boolean
}

async function* changeAll(
  core: Core,
  { keyIds, change, isOne }: ToChange,
  { asker, signal }: { readonly asker: Asker; readonly signal: AbortSignal },
): AsyncGenerator<Line, End> {
  const counts = { changed: 0, same: 0, refused: 0 }
  let isAway = false
  const asked = { asker, mayGoOn: () => !signal.aborted }
  for await (const answer of changeKeys(core, { keyIds, change }, asked)) {
    if (!isRefused(answer)) {
      counts[answer.isChanged ? 'changed' : 'same'] += 1
      yield changedLine(core, answer)
      continue
    }
    const { refusal } = answer.refused
    if (isOne) return refusedEnd(refusal, prefixOf(answer.refused))
    counts.refused += 1
    isAway ||= commandProblemOf(refusal).status === 503
    yield unchanged(core, answer.keyId, refusal, prefixOf(answer.refused))
  }
  if (isOne) return done
  const left = keyIds.length - counts.changed - counts.same - counts.refused
  const message = [
    keyIds.length === 0
      ? 'No key was found, so nothing was changed.'
      : `${countOf(counts.changed)} ${past[change.do]}.`,
    ...(counts.same === 0 ? [] : [`${countOf(counts.same)} already so.`]),
    ...(counts.refused === 0 ? [] : [`${countOf(counts.refused)} not changed, because refused.`]),
    ...(left === 0 ? [] : [`${countOf(left)} not tried, because the command ended early. To go on, repeat it.`]),
  ].join(' ')
  if (isAway || left > 0) return { exitCode: exitCodes.unreachable, message }
  return { exitCode: counts.refused > 0 ? exitCodes.refused : exitCodes.done, message }
}

/** `null`: keys can be missing. */
const idsOf = async (core: Core, keys: KeySelection): Promise<readonly string[] | null> => {
  if ('keyIds' in keys) return [...new Set(keys.keyIds)]
  const wanted = { filter: keys.filter, sort: 'created', isReversed: false } as const
  const found = await findKeys(core, wanted, { owner: 'cli', pause: nextTurn })
  return found.mayLack ? null : found.keys.map(({ keyId }) => keyId)
}

const notFound: CommandRefusal = { kind: 'key_not_found' }

const changedLine = (core: Core, { state, rotated }: ChangedKey): Line => ({
  kind: 'key',
  value: {
    ...keyView(core, state, rotated?.key),
    ...(rotated === null || rotated.replaced === null ? {} : { replaced: rotated.replaced.keyId }),
  },
})

const unchanged = (core: Core, id: string, refusal: CommandRefusal, prefix = ''): Line => {
  const key = core.projections.keys.get(id)
  const reason = prefix + commandProblemOf(refusal).text
  return { kind: 'unchanged_key', value: { id, cellar: key?.cellar ?? null, label: key?.label ?? null, reason } }
}

const forecast = (core: Core, keyIds: readonly string[], change: KeysChange): string => {
  const lately = core.clock.now() - hourMs
  const used = keyIds.filter((keyId) => (core.projections.readings.usage(keyId)?.lastUsedAt ?? 0) > lately).length
  const words = `${countOf(keyIds.length)} would be ${past[change.do]}, ${used} of them used in the last hour.`
  return change.do === 'revoke' ? `${words} This cannot be undone.` : words
}

const past: Readonly<Record<KeysChange['do'], string>> = {
  suspend: 'suspended',
  resume: 'resumed',
  revoke: 'revoked',
  change: 'changed',
  rotate: 'rotated',
  retire: 'retired',
}

const countOf = (count: number): string => `${count} ${count === 1 ? 'key' : 'keys'}`

const prefixOf = ({ done: changed, refused }: ChangeRefused): string =>
  changed.length === 0 ? '' : `Changed: ${namesOf(changed)}. Cannot change ${namesOf(refused)}: `

const namesOf = (part: KeyPart): string => part.map((name) => (name === 'expiresAt' ? 'expiry' : name)).join(', ')

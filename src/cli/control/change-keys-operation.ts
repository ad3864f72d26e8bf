import { type Static, Type } from '@sinclair/typebox'
import type { Asker, Core } from '../../actors/core-interface.ts'
import type { ChangeRefused, KeyPart } from '../../actors/key/change-key-in-parts.ts'
import { type ChangedKey, changeKeys, isRefused, type KeysChange } from '../../actors/key/change-keys.ts'
import {
  changeAskedOf,
  countsOf,
  revokedUnaskedMax,
  type StayingKey,
  splitKeys,
  usedInLastHour,
} from '../../actors/key/change-keys-split.ts'
import { findKeys } from '../../actors/search/find-keys.ts'
import { limitWithin, overlapWithin } from '../../domain/amounts.ts'
import { Limit } from '../../domain/events/declare-event.ts'
import { isExpired } from '../../domain/expiry.ts'
import type { KeyState } from '../../domain/key.ts'
import type { CommandRefusal } from '../../domain/refusal.ts'
import { anyKey, KeyFilter } from '../../domain/search/key-filter.ts'
import { parseLabel, parseNote, parseReason, type Typed } from '../../domain/text.ts'
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
  Type.Object({ do: Type.Literal('retire') }),
])

export const KeySelection = Type.Union([Type.Object({ keyIds: Type.Array(text) }), Type.Object({ filter: KeyFilter })])
export type KeySelection = Static<typeof KeySelection>

export const ChangeKeysOperation = Type.Object({
  op: Type.Literal('change_keys'),
  keys: KeySelection,
  change: Change,
  /** Only says which keys would be changed. */
  isDryRun: Type.Boolean(),
  /** The person accepts that many keys are revoked, or all changed (`--yes`). */
  isConfirmed: Type.Boolean(),
})
export type ChangeKeysOperation = Static<typeof ChangeKeysOperation>

export async function* changeKeysAsked(
  core: Core,
  { keys, change, isDryRun, isConfirmed }: ChangeKeysOperation,
  { asker, signal }: { readonly asker: Asker; readonly signal: AbortSignal },
): AsyncGenerator<Line, End> {
  if ('filter' in keys && keys.filter.cellar !== null && core.projections.cellars.get(keys.filter.cellar) === null)
    return refusedEnd({ kind: 'cellar_not_found' })
  const fault = faultIn(change, core.clock.now())
  if (fault !== null) return refusedEnd(fault)
  const { found, unknown, mayLack } = await keysOf(core, keys)
  if (mayLack) return { ...mayLackKeys, message: `Nothing was changed. ${mayLackKeys.message}` }
  const isNamed = 'keyIds' in keys
  const isExpiredMeant = isNamed || keys.filter.status === 'expired'
  const { able, staying } = splitKeys(core, found, { change: changeAskedOf(change), isExpiredMeant })
  const forecast = `Nothing was changed. ${forecastOf(core, { able, staying, unknown, change })}`
  if (isDryRun) {
    for (const key of able) yield { kind: 'key', value: keyView(core, key) }
    if (!isNamed) return { ...done, message: forecast }
    for (const { key, why } of staying) yield unchanged(core, key.keyId, `This key would stay as it is: ${why}.`)
    for (const keyId of unknown) yield unchanged(core, keyId, wordsOf({ kind: 'key_not_found' }))
    const isRefused = unknown.length > 0 || staying.some((key) => key.isRefused)
    return { exitCode: isRefused ? exitCodes.refused : exitCodes.done, message: forecast }
  }
  const isMany = change.do === 'revoke' && able.length > revokedUnaskedMax
  if (!isConfirmed && (isMany || (able.length > 0 && !isNamed && takesAll(keys.filter))))
    return {
      exitCode: exitCodes.refused,
      message: `${forecast} To see the keys, add --dry-run. To confirm, add --yes.`,
    }
  // A named key that cannot be changed is refused with its own reason. To retire one that cannot be retired changes nothing.
  const isTried = isNamed && change.do !== 'retire'
  const keyIds = isTried ? [...new Set(keys.keyIds)] : [...unknown, ...able.map(({ keyId }) => keyId)]
  const toChange = { keyIds, change, staying: isTried ? [] : staying, isOne: isTried && keyIds.length === 1 }
  return yield* changeAll(core, toChange, { asker, signal })
}

/** Of the wanted values, so that it is told once and not for each key. */
const faultIn = (change: KeysChange, nowMs: number): CommandRefusal | null => {
  if (change.do === 'retire') return null
  if (change.do === 'rotate') return refusalOf(overlapWithin(change.overlapMs))
  if (change.do !== 'change') return refusalOf(parseReason(change.reason))
  const { label = '', note = '', limit = null, expiresAt = null } = change.changes
  if (isExpired({ expiresAt }, nowMs)) return { kind: 'expiry_in_past', isNew: false }
  return refusalOf(parseLabel(label)) ?? refusalOf(parseNote(note)) ?? refusalOf(limitWithin(limit))
}

const refusalOf = (typed: Typed<unknown>): CommandRefusal | null => (typed.ok ? null : typed.refusal)

/** Also without expired, suspended and revoked keys, these are all keys in use. */
const takesAll = (filter: KeyFilter): boolean =>
  Bun.deepEquals({ ...filter, status: filter.status === 'active' ? 'all' : filter.status }, anyKey)

type ToChange = {
  readonly keyIds: readonly string[]
  readonly change: KeysChange
  /** For people: they are not tried. */
  readonly staying: readonly StayingKey[]
  /** The answer for one key that a person named is shorter. */
  readonly isOne: boolean
}

async function* changeAll(
  core: Core,
  { keyIds, change, staying, isOne }: ToChange,
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
    yield unchanged(core, answer.keyId, prefixOf(answer.refused) + wordsOf(refusal))
  }
  if (isOne) return done
  const left = keyIds.length - counts.changed - counts.same - counts.refused
  const message = [
    keyIds.length + staying.length === 0
      ? 'No key was found, so nothing was changed.'
      : `${countOf(counts.changed)} ${past[change.do]}.`,
    ...(staying.length === 0 ? [] : [stayingText(staying, 'left as before')]),
    ...(counts.same === 0 ? [] : [`${countOf(counts.same)} already so.`]),
    ...(counts.refused === 0 ? [] : [`${countOf(counts.refused)} not changed, because refused.`]),
    ...(left === 0 ? [] : [`${countOf(left)} not tried, because the command ended early. To go on, repeat it.`]),
  ].join(' ')
  if (isAway || left > 0) return { exitCode: exitCodes.unreachable, message }
  return { exitCode: counts.refused > 0 ? exitCodes.refused : exitCodes.done, message }
}

type KeysFound = {
  readonly found: readonly KeyState[]
  /** Ids of no key. */
  readonly unknown: readonly string[]
  readonly mayLack: boolean
}

const keysOf = async (core: Core, keys: KeySelection): Promise<KeysFound> => {
  if ('filter' in keys) {
    const wanted = { filter: keys.filter, sort: 'created', isReversed: false } as const
    const { keys: found, mayLack } = await findKeys(core, wanted, { owner: 'cli', pause: nextTurn })
    return { found, unknown: [], mayLack }
  }
  const found = new Map(keys.keyIds.map((keyId) => [keyId, core.projections.keys.get(keyId)]))
  return {
    found: [...found.values()].filter((key) => key !== null),
    unknown: [...found].flatMap(([keyId, key]) => (key === null ? [keyId] : [])),
    mayLack: false,
  }
}

const wordsOf = (refusal: CommandRefusal): string => commandProblemOf(refusal).text

const changedLine = (core: Core, { state, rotated }: ChangedKey): Line => ({
  kind: 'key',
  value: {
    ...keyView(core, state, rotated?.key),
    ...(rotated === null || rotated.replaced === null ? {} : { replaced: rotated.replaced.keyId }),
  },
})

const unchanged = (core: Core, id: string, reason: string): Line => {
  const key = core.projections.keys.get(id)
  return { kind: 'unchanged_key', value: { id, cellar: key?.cellar ?? null, label: key?.label ?? null, reason } }
}

type Forecast = {
  readonly able: readonly KeyState[]
  readonly staying: readonly StayingKey[]
  readonly unknown: readonly string[]
  readonly change: KeysChange
}

const forecastOf = (core: Core, { able, staying, unknown, change }: Forecast): string => {
  const used = usedInLastHour(core, able)
  return [
    `${countOf(able.length)} would be ${past[change.do]}, ${used} of them used in the last hour.`,
    ...(change.do === 'revoke' ? ['This cannot be undone.'] : []),
    ...(staying.length === 0 ? [] : [stayingText(staying, 'would stay as before')]),
    ...(unknown.length === 0 ? [] : [`${countOf(unknown.length)} not found.`]),
  ].join(' ')
}

const stayingText = (staying: readonly StayingKey[], verb: string): string => {
  const reasons = countsOf(staying).map(({ why, count }) => (count === staying.length ? why : `${count} ${why}`))
  return `${countOf(staying.length)} ${verb}: ${reasons.join(', ')}.`
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

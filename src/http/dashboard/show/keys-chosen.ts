import type { ChosenKey, KeysChosen, SeveralChange } from '../../../../views/keys/several/several-types.ts'
import { severalChanges } from '../../../../views/keys/several/several-types.ts'
import { paths } from '../../../../views/paths.ts'
import { countsOf, lastUseOf, splitKeys, usedInLastHour } from '../../../actors/key/change-keys-split.ts'
import { findKeys } from '../../../actors/search/find-keys.ts'
import { isExpired } from '../../../domain/expiry.ts'
import type { KeyState } from '../../../domain/key.ts'
import { keyFilterOf } from '../../../domain/search/key-filter.ts'
import type { DashboardDeps, SignedInVisit } from '../visit.ts'
import { keyQueryOf } from './key-list.ts'
import { waitForTurn } from './pauses.ts'
import { racksOfMany } from './rotation-views.ts'

const keysNamedMax = 10

export type Chosen = ReturnType<typeof splitKeys> & {
  readonly change: SeveralChange
  /** Keys can be missing among those that the filter found. */
  readonly mayLack: boolean
}

/** The keys that the address names, or all that its filter finds. `null`: it names no change. */
export const chosenIn = async ({ core }: DashboardDeps, { query, session }: SignedInVisit): Promise<Chosen | null> => {
  const change = changeIn(query)
  if (change === null) return null
  if (query.get('all') === 'on') {
    const wanted = { filter: keyFilterOf(query, cellarIn(query)), sort: 'used', isReversed: false } as const
    const { keys, mayLack } = await findKeys(core, wanted, { owner: session.email, pause: waitForTurn })
    const isExpiredMeant = wanted.filter.status === 'expired'
    return { change, mayLack, ...splitKeys(core, keys, { change, isExpiredMeant }) }
  }
  const named = [...new Set(query.getAll('key'))].flatMap((keyId) => core.projections.keys.get(keyId) ?? [])
  // Those that were used last are also changed first.
  const keys = named.toSorted((a, b) => lastUseOf(core, b) - lastUseOf(core, a))
  return { change, mayLack: false, ...splitKeys(core, keys, { change, isExpiredMeant: true }) }
}

export const changeIn = (query: URLSearchParams): SeveralChange | null =>
  severalChanges.find((known) => known === query.get('do')) ?? null

/** The racks of the first old keys that are to be retired. */
export const withRacks = async (
  deps: DashboardDeps,
  shown: readonly ChosenKey[],
  owner: string,
): Promise<readonly ChosenKey[]> => {
  const olds = shown.flatMap(({ keyId }) => deps.core.projections.keys.get(keyId) ?? [])
  const racks = await racksOfMany(deps, olds, owner)
  return shown.map((key) => ({ ...key, racks: racks.get(key.keyId) ?? null }))
}

/** Of a list of one cellar. */
const cellarIn = (query: URLSearchParams): string | null => query.get('cellar') || null

/** The list in which the keys were chosen. */
export const backOf = (query: URLSearchParams): string => {
  const list = keyQueryOf(query, cellarIn(query))
  return list.cellar === null ? paths.allKeys(list) : paths.keys(list.cellar, list)
}

type Facts = Omit<
  KeysChosen,
  'change' | 'href' | 'back' | 'mustType' | 'form' | 'formId' | 'confirmed' | 'moved' | 'isAskedAgain'
>

export const factsOf = (deps: DashboardDeps, { able, staying }: Chosen): Facts => {
  const nowMs = deps.core.clock.now()
  return {
    count: able.length,
    shown: able.slice(0, keysNamedMax).map((key) => chosenKey(deps, key)),
    cellars: new Set(able.map(({ cellar }) => cellar)).size,
    usedLately: usedInLastHour(deps.core, able),
    expired: able.filter((key) => isExpired(key, nowMs)).length,
    rotatedBefore: able.filter(({ rotation }) => rotation !== null && rotation.superseded === null).length,
    staying: countsOf(staying),
  }
}

const chosenKey = ({ core }: DashboardDeps, { keyId, label, cellar }: KeyState): ChosenKey => ({
  keyId,
  label,
  cellarTitle: core.projections.cellars.get(cellar)?.title ?? cellar,
  lastUsedAt: core.projections.readings.usage(keyId)?.lastUsedAt ?? null,
  racks: null,
})

const markChars = 5
const markIn = ({ keyId }: KeyState): string => keyId.slice(0, markChars)

/** What was confirmed, in a short text: the beginning of each id. Two of 10,000 keys rarely begin in the same way. */
export const markOf = (keys: readonly KeyState[]): string => keys.map(markIn).join('')

type Split = { readonly named: readonly KeyState[]; readonly came: readonly KeyState[]; readonly gone: number }

/** Which of the keys were confirmed, and how many others were. */
export const splitConfirmed = (confirmed: string, keys: readonly KeyState[]): Split => {
  const marks = new Set(confirmed.match(new RegExp(`.{${markChars}}`, 'g')))
  const { named = [], came = [] } = Object.groupBy(keys, (key) => (marks.has(markIn(key)) ? 'named' : 'came'))
  return { named, came, gone: marks.difference(new Set(named.map(markIn))).size }
}

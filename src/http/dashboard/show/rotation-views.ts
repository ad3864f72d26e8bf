import type { ChainView, RacksView, RotationView } from '../../../../views/keys/rotation/rotation-types.ts'
import { answerOr, isLate } from '../../../actors/ask/answer-of.ts'
import { minuteMs, minuteOf } from '../../../domain/calendar.ts'
import { followerOf, type KeyState } from '../../../domain/key.ts'
import { keyStatus } from '../../../domain/key-refusal.ts'
import {
  earlierKeys,
  isOpen,
  laterKeys,
  rackStates,
  racksOfRotation,
  replacedBy,
  silentDays,
} from '../../../domain/search/rotation.ts'
import { askRackKeysMax } from '../../../limits.ts'
import type { RacksOfKeys } from '../../../log/ask-index.ts'
import type { DashboardDeps } from '../visit.ts'
import { successorOf } from './key-views.ts'

export const racksShownMax = 100
const chainMax = 4

type Asker = { readonly nowMs: number; readonly owner: string }

export const rotatedOf = async (deps: DashboardDeps, key: KeyState, asker: Asker) => ({
  rotations: await rotationsOf(deps, key, asker),
  chain: chainOf(deps, key, asker.nowMs),
})

/** Of the key, and of the key that it replaces while that one works. */
export const rotationsOf = async (
  deps: DashboardDeps,
  key: KeyState,
  asker: Asker,
): Promise<readonly RotationView[]> => {
  const get = keyOf(deps)
  const replaced = replacedBy(key, get)
  const olds = [
    ...(replaced !== null && isOpen(replaced, asker.nowMs) ? [replaced] : []),
    ...(followerOf(key, get) === null ? [] : [key]),
  ]
  return Promise.all(olds.map((old) => rotationOf(deps, old, asker)))
}

export const rotationOf = async (
  deps: DashboardDeps,
  old: KeyState,
  { nowMs, owner }: Asker,
): Promise<RotationView> => {
  const { keyId, cellar, expiresAt } = old
  const racks = await racksOfMany(deps, [old], owner)
  const successor = successorOf(deps, old, nowMs)
  if (successor === null) throw new Error(`Cannot show the rotation of key "${keyId}": it was never rotated`)
  return {
    old: { keyId, cellar, expiresAt, status: keyStatus(old, nowMs) },
    successor,
    racks: racks.get(keyId) ?? null,
  }
}

/** Of each of these old keys, with few questions. A key is left out if its racks are not known now. */
export const racksOfMany = async (
  deps: DashboardDeps,
  olds: readonly KeyState[],
  owner: string,
): Promise<ReadonlyMap<string, RacksView>> => {
  const found = new Map<string, RacksView>()
  const together: Rotated[][] = []
  let room = 0
  for (const old of olds) {
    const keyIds = keysOf(deps, old)
    if (keyIds.length > room) {
      together.push([])
      room = askRackKeysMax
    }
    together.at(-1)?.push({ keyIds, usedAt: old.rotation?.superseded?.usedAt ?? null })
    room -= keyIds.length
  }
  for (const asked of together) {
    const keyIds = asked.flatMap((each) => each.keyIds)
    const answered = await deps.core.questions.ask('racksOfKeys', { keyIds }, { owner })
    const told = isLate(answered) ? null : answerOr(answered, null)
    if (told === null) return found
    for (const each of asked) found.set(each.keyIds[0] ?? '', racksView(deps, told, each))
  }
  return found
}

/** Of a long chain, the newest keys: racks use them last. */
const keysOf = (deps: DashboardDeps, old: KeyState): readonly string[] =>
  [old, ...laterKeys(old, keyOf(deps)).slice(1 - askRackKeysMax)].map(({ keyId }) => keyId)

/** The old key comes first. */
type Rotated = { readonly keyIds: readonly string[]; readonly usedAt: number | null }

const racksView = (deps: DashboardDeps, told: RacksOfKeys, { keyIds, usedAt }: Rotated): RacksView => {
  const pairs = told.racks.filter(({ key }) => keyIds.includes(key))
  const purgedBefore = (keyId: string): number =>
    deps.core.projections.readings.purged(keyId)?.last.data.acceptedBefore ?? 0
  const missing = [(told.seenFromMinute ?? 0) * minuteMs, ...keyIds.map(purgedBefore)]
  const lastCompared = told.isCut ? lastOfCutKeys(told.racks, keyIds) : null
  const racks = racksOfRotation(
    pairs.filter(({ rack }) => lastCompared === null || rack <= lastCompared),
    {
      oldId: keyIds[0] ?? '',
      usedMinute: usedAt === null ? null : minuteOf(usedAt),
      nowMinute: minuteOf(deps.core.clock.now()),
    },
  )
  const [old = 0, both = 0, silent = 0, switched = 0, only = 0] = rackStates.map(
    (wanted) => racks.filter(({ state }) => state === wanted).length,
  )
  return {
    shown: racks.slice(0, racksShownMax).map(({ rack, state, oldMinute, newMinute }) => ({
      rack,
      state,
      oldMs: oldMinute === null ? null : oldMinute * minuteMs,
      newMs: newMinute === null ? null : newMinute * minuteMs,
    })),
    counts: { all: racks.length - only, old, both, silent, switched, new: only },
    seenFromMs: Math.max(...missing) || null,
    withNext: pairs.filter(({ key }) => key === keyIds[1]).length,
    silentDays,
    lastCompared,
  }
}

/** The answer has the first racks of each key by name, and of each key that has more the same number. */
const lastOfCutKeys = (pairs: RacksOfKeys['racks'], keyIds: readonly string[]): string | null => {
  const byKey = Map.groupBy(pairs, ({ key }) => key)
  const most = Math.max(...[...byKey.values()].map((racks) => racks.length))
  const lasts = keyIds
    .map((keyId) => byKey.get(keyId) ?? [])
    .filter((racks) => racks.length === most)
    .map((racks) => racks.at(-1)?.rack ?? '')
  return lasts.sort()[0] ?? null
}

/** `null` for a key without a neighbour. */
const chainOf = (deps: DashboardDeps, key: KeyState, nowMs: number): ChainView | null => {
  const [earlier, later] = [earlierKeys(key, keyOf(deps)), laterKeys(key, keyOf(deps))]
  if (earlier.length + later.length === 0) return null
  const shown = [...earlier.slice(-chainMax), key, ...later.slice(0, chainMax)]
  return {
    keys: shown.map((each) => ({
      keyId: each.keyId,
      status: keyStatus(each, nowMs),
      createdAt: each.created.at,
    })),
    earlier: Math.max(0, earlier.length - chainMax),
    later: Math.max(0, later.length - chainMax),
  }
}

const keyOf =
  ({ core }: DashboardDeps) =>
  (keyId: string): KeyState | null =>
    core.projections.keys.get(keyId)

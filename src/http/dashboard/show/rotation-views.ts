import type { ChainView, RacksView, RotationView } from '../../../../views/keys/rotation/rotation-types.ts'
import { answerOr, isLate } from '../../../actors/ask/answer-of.ts'
import { minuteMs, minuteOf } from '../../../domain/calendar.ts'
import { followerOf, type KeyState } from '../../../domain/key.ts'
import { type KeyStatus, keyStatus } from '../../../domain/key-refusal.ts'
import { earlierKeys, laterKeys, rackStates, racksOfRotation, replacedBy } from '../../../domain/search/rotation.ts'
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
  const isOpen = replaced !== null && works.has(keyStatus(replaced, asker.nowMs))
  const olds = [...(isOpen ? [replaced] : []), ...(followerOf(key, get) === null ? [] : [key])]
  return Promise.all(olds.map((old) => rotationOf(deps, old, asker)))
}

export const rotationOf = async (
  deps: DashboardDeps,
  old: KeyState,
  { nowMs, owner }: Asker,
): Promise<RotationView> => {
  const { keyId, cellar, expiresAt } = old
  const keyIds = [keyId, ...laterKeys(old, keyOf(deps)).map((later) => later.keyId)].slice(0, askRackKeysMax)
  const answered = await deps.core.questions.ask('racksOfKeys', { keyIds }, { owner })
  const told = isLate(answered) ? null : answerOr(answered, null)
  const successor = successorOf(deps, old)
  if (successor === null) throw new Error(`Cannot show the rotation of key "${keyId}": it was never rotated`)
  return {
    old: { keyId, cellar, expiresAt, status: keyStatus(old, nowMs) },
    successor,
    racks: told === null ? null : racksView(told, { oldId: keyId, usedAt: successor.usedAt }),
  }
}

export const works: ReadonlySet<KeyStatus> = new Set(['active', 'suspended'])

const racksView = (
  { racks: pairs, isCut, seenFromMinute }: RacksOfKeys,
  { oldId, usedAt }: { readonly oldId: string; readonly usedAt: number | null },
): RacksView => {
  const lastCompared = isCut ? lastOfCutKeys(pairs) : null
  const racks = racksOfRotation(
    pairs.filter(({ rack }) => lastCompared === null || rack <= lastCompared),
    { oldId, usedMinute: usedAt === null ? null : minuteOf(usedAt) },
  )
  const [old = 0, both = 0, silent = 0, switched = 0] = rackStates.map(
    (wanted) => racks.filter(({ state }) => state === wanted).length,
  )
  return {
    shown: racks.slice(0, racksShownMax).map(({ rack, state, oldMinute, newMinute }) => ({
      rack,
      state,
      oldMs: oldMinute === null ? null : oldMinute * minuteMs,
      newMs: newMinute === null ? null : newMinute * minuteMs,
    })),
    counts: { all: racks.length, old, both, silent, switched },
    seenFromMs: seenFromMinute === null ? null : seenFromMinute * minuteMs,
    lastCompared,
  }
}

/** The answer has the first racks of each key by name, and of each key that has more the same number. */
const lastOfCutKeys = (pairs: RacksOfKeys['racks']): string | null => {
  const byKey = [...Map.groupBy(pairs, ({ key }) => key).values()]
  const most = Math.max(...byKey.map((racks) => racks.length))
  const lasts = byKey.filter((racks) => racks.length === most).map((racks) => racks.at(-1)?.rack ?? '')
  return lasts.sort()[0] ?? null
}

/** `null` for a key without a neighbour. */
export const chainOf = (deps: DashboardDeps, key: KeyState, nowMs: number): ChainView | null => {
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

/** Of all keys in memory. A node has up to a million, so each piece of work is short, and other work comes between. */
import { dayMs, hourOf } from '../../domain/calendar.ts'
import type { KeyState } from '../../domain/key.ts'
import { type KeyStatus, keyStatus } from '../../domain/key-refusal.ts'
import {
  isKeyFound,
  type KeyFacts,
  type KeyFilter,
  type KeySort,
  limitShare,
  sortValueOf,
} from '../../domain/search/key-filter.ts'
import { isRotating } from '../../domain/search/rotation.ts'
import type { KeyLoads } from '../../log/ask-index.ts'
import { isLate } from '../ask/answer-of.ts'
import type { Core } from '../core-interface.ts'

export type KeysWanted = { readonly filter: KeyFilter; readonly sort: KeySort; readonly isReversed: boolean }

export type FoundKeys = {
  /** In the wanted order. */
  readonly keys: readonly KeyState[]
  /** In the cellar, or in all. */
  readonly all: number
  /** If the filter wanted another status. */
  readonly counts: Readonly<Record<KeyStatus | 'all', number>>
  /** `ask.db` did not count the latest minutes, or none. */
  readonly isBehind: boolean
  /** The filter needs these counts, so keys can be missing. */
  readonly mayLack: boolean
  readonly loads: Loads
}

type Asker = {
  readonly owner: string
  /** Between pieces of work. */
  readonly pause: () => Promise<void>
  /** Of an earlier search with the same filter. */
  readonly loads?: Loads | undefined
}

/** About 2 ms of work. In smaller pieces, a list waits for many turns of a busy event loop. */
export const keysPerPieceMax = 3_000
/** So that a live page asks one question for most of its pushes. */
export const loadsKeptMs = 10_000

export const findKeys = async (
  core: Core,
  { filter, sort, isReversed }: KeysWanted,
  asker: Asker,
): Promise<FoundKeys> => {
  const nowMs = core.clock.now()
  const { keys, readings } = core.projections
  const { pause } = asker
  const known = asker.loads !== undefined && nowMs < asker.loads.atMs + loadsKeptMs ? asker.loads : null
  const loads = known ?? (await loadsOf(core, { filter, sort }, asker))
  const waiting = waitingRefusals(core)
  const get = (keyId: string): KeyState | null => keys.get(keyId)
  const counts = { active: 0, expired: 0, suspended: 0, revoked: 0, all: 0 }
  const found: Sorted[] = []
  const asksForUse = filter.unused !== null || sort === 'used'
  let looked = 0
  for (const key of keys.each(filter.cellar)) {
    if (looked % keysPerPieceMax === 0) await pause()
    looked += 1
    const load = loads.ofKeys.get(key.keyId)
    const facts: KeyFacts = {
      lastUsedAt: asksForUse ? (readings.usage(key.keyId)?.lastUsedAt ?? null) : null,
      share: load === undefined ? 0 : limitShare(load.busiest, keys.effectiveLimit(key)),
      refusedToday: (load?.refusedToday ?? 0) + (waiting.get(key.keyId) ?? 0),
      isRotating: filter.rotation && isRotating(key, get, nowMs),
    }
    if (!isKeyFound(key, facts, filter, nowMs)) continue
    const status = keyStatus(key, nowMs)
    counts[status] += 1
    counts.all += 1
    if (filter.status === 'all' || filter.status === status) found.push({ key, by: sortValueOf(key, facts, sort) })
  }
  const compare = isReversed ? (a: Sorted, b: Sorted) => byValue(b, a) : byValue
  const inOrder = (await sortInPieces(found, compare, pause)).map(({ key }) => key)
  const { isBehind } = loads
  const mayLack = isBehind && (filter.nearLimit || filter.refusedToday)
  return { keys: inOrder, all: looked, counts, isBehind, mayLack, loads }
}

type Sorted = { readonly key: KeyState; readonly by: number | string }

const byValue = (a: Sorted, b: Sorted): number => {
  if (a.by !== b.by) return a.by < b.by ? -1 : 1
  return b.key.created.at - a.key.created.at || (a.key.keyId < b.key.keyId ? -1 : 1)
}

/** Sorts both halves, and merges them. */
const sortInPieces = async <T>(
  all: readonly T[],
  compare: (a: T, b: T) => number,
  pause: () => Promise<void>,
): Promise<readonly T[]> => {
  if (all.length <= keysPerPieceMax) {
    await pause()
    return all.toSorted(compare)
  }
  const middle = Math.ceil(all.length / 2)
  const left = await sortInPieces(all.slice(0, middle), compare, pause)
  const right = await sortInPieces(all.slice(middle), compare, pause)
  const merged: T[] = []
  for (let [atLeft, atRight] = [0, 0]; ; ) {
    if (merged.length % keysPerPieceMax === 0) await pause()
    const [one, other] = [left[atLeft], right[atRight]]
    const isLeft = other === undefined || (one !== undefined && compare(one, other) <= 0)
    const next = isLeft ? one : other
    if (next === undefined) return merged
    merged.push(next)
    if (isLeft) atLeft += 1
    else atRight += 1
  }
}

type Loads = {
  readonly atMs: number
  /** Empty if the filter and the order need no counts. */
  readonly ofKeys: ReadonlyMap<string, Pick<KeyLoad, 'busiest' | 'refusedToday'>>
  readonly isBehind: boolean
}

const loadsOf = async (
  core: Core,
  { filter, sort }: Omit<KeysWanted, 'isReversed'>,
  { owner, pause }: Asker,
): Promise<Loads> => {
  const atMs = core.clock.now()
  const ofKeys = new Map<string, KeyLoad>()
  const wanted = {
    fromHour: filter.nearLimit || sort === 'busiest' ? lastDay(atMs).fromHour : null,
    todayHour: filter.refusedToday ? hourOf(atMs - (atMs % dayMs)) : null,
    cellar: filter.cellar,
  }
  if (wanted.fromHour === null && wanted.todayHour === null) return { atMs, ofKeys, isBehind: false }
  const answered = await core.questions.ask('keyLoads', wanted, { owner, isAtOnce: true })
  if (answered.kind === 'answered') {
    for (const load of eachLoad(answered.answer)) {
      if (ofKeys.size % keysPerPieceMax === 0) await pause()
      ofKeys.set(load.keyId, load)
    }
  }
  return { atMs, ofKeys, isBehind: isLate(answered) }
}

export type KeyLoad = { readonly keyId: string; readonly busiest: number; readonly refusedToday: number }

/** One by one, so that the caller can give way between thousands of keys. */
export function* eachLoad({ keyIds, busiest, refusedToday }: KeyLoads): Generator<KeyLoad> {
  let from = 0
  for (const [at, most] of busiest.entries()) {
    const end = keyIds.indexOf('\n', from)
    const keyId = keyIds.slice(from, end < 0 ? undefined : end)
    from = end + 1
    yield { keyId, busiest: most, refusedToday: refusedToday[at] ?? 0 }
  }
}

/** By key. They are written to the log, and counted, up to 15 minutes later. */
export const waitingRefusals = (core: Core): ReadonlyMap<string, number> =>
  new Map(
    core.refusals
      .waiting()
      .map(({ keyId, data }) => [keyId ?? '', data.counts.reduce((sum, { count }) => sum + count, 0)]),
  )

/** The last 24 hours, the hour that has begun included. */
export const lastDay = (nowMs: number): { readonly fromHour: number; readonly toHour: number } => {
  const toHour = hourOf(nowMs) + 1
  return { fromHour: toHour - 24, toHour }
}

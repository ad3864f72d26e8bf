import type { CellarRow, CellarView } from '../../../../views/types.ts'
import type { CellarState } from '../../../domain/cellar.ts'
import { keyStatus } from '../../../domain/key-refusal.ts'
import { cellarsPerPageMax, keysCountedPerPiece } from '../../../limits.ts'
import type { DashboardDeps } from '../visit.ts'
import { usedInWindow } from './key-views.ts'
import { pageOf } from './paging.ts'
import { type Pause, pauseEvery } from './pauses.ts'

export const cellarView = ({ cellar, title, policy, createdAt, createdBy }: CellarState): CellarView => ({
  cellar,
  title,
  policy,
  createdAt,
  createdBy,
})

type Now = { readonly nowMs: number; readonly pause: Pause }

/**
 * Counts the keys cellar by cellar. A cellar can have thousands of keys, so the count pauses to let the service answer
 * readings.
 */
export const cellarListOf = async (deps: DashboardDeps, asked: number, now: Now) => {
  const { shown, page, pages } = pageOf(deps.core.projections.cellars.list(), asked, cellarsPerPageMax)
  const pause = pauseEvery(keysCountedPerPiece, now.pause)
  const cellars: CellarRow[] = []
  for (const cellar of shown) cellars.push(await cellarRow(deps, cellar, { nowMs: now.nowMs, pause }))
  return { cellars, page, pages }
}

const cellarRow = async (
  deps: DashboardDeps,
  { cellar, title }: CellarState,
  { nowMs, pause }: { readonly nowMs: number; readonly pause: () => Promise<void> | null },
): Promise<CellarRow> => {
  const { keys, readings } = deps.core.projections
  const all = keys.ofCellar(cellar)
  let [accepted, activeKeys] = [0, 0]
  let lastReadingAt: number | null = null
  let lately: number | null = 0
  for (const key of all) {
    const paused = pause()
    if (paused !== null) await paused
    if (keyStatus(key, nowMs) === 'active') activeKeys += 1
    const usage = readings.usage(key.keyId)
    if (usage === null) continue
    accepted += usage.accepted
    lastReadingAt = Math.max(lastReadingAt ?? 0, usage.lastUsedAt)
    const used = await usedInWindow(deps, key, nowMs)
    lately = lately === null || used === null ? null : lately + used
  }
  return { cellar, title, activeKeys, keys: all.length, accepted, lately, lastReadingAt }
}

import type { CellarRow, CellarView } from '../../../views/types.ts'
import type { CellarState } from '../../domain/cellar.ts'
import { keyStatus } from '../../domain/key.ts'
import { cellarsPerPageMax } from '../../limits.ts'
import { usedNow } from './key-views.ts'
import { pageOf } from './paging.ts'
import type { DashboardDeps } from './visit.ts'

export const cellarView = ({ cellar, title, policy, createdAt, createdBy }: CellarState): CellarView => ({
  cellar,
  title,
  policy,
  createdAt,
  createdBy,
})

/** One page of all cellars. */
export const cellarListOf = async (deps: DashboardDeps, asked: number, nowMs: number) => {
  const { shown, page, pages } = pageOf(deps.core.projections.cellars.list(), asked, cellarsPerPageMax)
  const cellars = await Promise.all(shown.map((cellar) => cellarRow(deps, cellar, nowMs)))
  return { cellars, page, pages }
}

const cellarRow = async (deps: DashboardDeps, { cellar, title }: CellarState, nowMs: number): Promise<CellarRow> => {
  const { keys, readings } = deps.core.projections
  const all = keys.ofCellar(cellar)
  let accepted = 0
  let lastReadingAt: number | null = null
  let lately: number | null = 0
  for (const key of all) {
    const usage = readings.usage(key.keyId)
    if (usage === null) continue
    accepted += usage.accepted
    lastReadingAt = Math.max(lastReadingAt ?? 0, usage.lastUsedAt)
    const used = await usedNow(deps, key, nowMs)
    lately = lately === null || used === null ? null : lately + used
  }
  const activeKeys = all.filter((key) => keyStatus(key, nowMs) === 'active').length
  return { cellar, title, activeKeys, keys: all.length, accepted, lately, lastReadingAt }
}

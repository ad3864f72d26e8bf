import type { CellarRow, CellarView } from '../../../../views/types.ts'
import type { Core } from '../../../actors/core-interface.ts'
import { type CellarState, unitOf } from '../../../domain/cellar.ts'
import type { KeyState } from '../../../domain/key.ts'
import { keyStatus } from '../../../domain/key-refusal.ts'
import { pageOf } from '../../../domain/search/page-of-list.ts'
import type { DashboardDeps } from '../visit.ts'
import { usedInWindow } from './key-views.ts'
import { type Pause, pauseEvery } from './pauses.ts'

/** In one turn of the event loop, about 1 ms. */
const keysCountedPerPiece = 500
/** It must divide `keysCountedPerPiece`. */
export const keysAskedAtOnceMax = 100
export const cellarsPerPageMax = 100

export const cellarView = (state: CellarState): CellarView => {
  const { cellar, title, policy, units, silence, createdAt, createdBy } = state
  return { cellar, title, policy, units, silence, createdAt, createdBy }
}

/** The unit that kegs of this name have now. */
export const unitIn = ({ projections }: Pick<Core, 'projections'>, cellar: string, keg: string): string | null => {
  const known = projections.cellars.get(cellar)
  return known === null ? null : unitOf(known, keg)
}

export type AskedCellars = {
  /** In lower case. */
  readonly words: readonly string[]
  readonly page: number
}

type Now = { readonly nowMs: number; readonly pause: Pause }
type Counts = { -readonly [Name in keyof CellarRow]: CellarRow[Name] }

/**
 * A cellar can have thousands of keys, so the count pauses. A key may have to read the store, so the keys of a piece are
 * asked at the same time.
 */
export const cellarListOf = async (deps: DashboardDeps, asked: AskedCellars, { nowMs, pause }: Now) => {
  const found = foundCellars(deps, asked.words)
  const { shown, page, pages } = pageOf(found, asked.page, cellarsPerPageMax)
  const cellars = shown.map(noCounts)
  const pauseNow = pauseEvery(keysCountedPerPiece / keysAskedAtOnceMax, pause)
  for (const piece of piecesOf(deps, cellars)) {
    await Promise.all(piece.map((counted) => count(deps, counted, nowMs)))
    await pauseNow()
  }
  const counts = { found: found.length, all: deps.core.projections.cellars.list().length }
  return { cellars: cellars satisfies readonly CellarRow[], page, pages, find: asked.words.join(' '), ...counts }
}

/** Those whose identifier or title has each word. */
export const foundCellars = ({ core }: DashboardDeps, words: readonly string[]): readonly CellarState[] =>
  core.projections.cellars
    .list()
    .filter(({ cellar, title }) => words.every((word) => `${cellar}\n${title}`.toLowerCase().includes(word)))

const noCounts = ({ cellar, title }: CellarState): Counts => ({
  cellar,
  title,
  activeKeys: 0,
  keys: 0,
  accepted: 0,
  lately: 0,
  lastReadingAt: null,
})

type Counted = { readonly row: Counts; readonly key: KeyState }

function* piecesOf({ core }: DashboardDeps, rows: readonly Counts[]): Generator<readonly Counted[]> {
  let piece: Counted[] = []
  for (const row of rows) {
    for (const key of core.projections.keys.ofCellar(row.cellar)) {
      piece.push({ row, key })
      if (piece.length < keysAskedAtOnceMax) continue
      yield piece
      piece = []
    }
  }
  yield piece
}

const count = async (deps: DashboardDeps, { row, key }: Counted, nowMs: number): Promise<void> => {
  row.keys += 1
  if (keyStatus(key, nowMs) === 'active') row.activeKeys += 1
  const usage = deps.core.projections.readings.usage(key.keyId)
  if (usage === null) return
  row.accepted += usage.accepted
  row.lastReadingAt = Math.max(row.lastReadingAt ?? 0, usage.lastUsedAt)
  const used = await usedInWindow(deps, key, nowMs)
  row.lately = row.lately === null || used === null ? null : row.lately + used
}

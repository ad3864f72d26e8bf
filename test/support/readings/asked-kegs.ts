import type { Database } from 'bun:sqlite'
import { draftCharts } from '../../../src/derived/readings/keg-charts.ts'
import { kegList } from '../../../src/derived/readings/keg-list.ts'
import type { ChartsWanted, FoundKegs, KegName, KegsWanted } from '../../../src/derived/readings/shown-kegs.ts'

export const answerOf = <T>(question: Generator<void, T>): T => {
  for (let step = question.next(); ; step = question.next()) if (step.done === true) return step.value
}

export const allKegs = {
  cellar: 'north',
  words: [],
  sort: 'name',
  isReversed: false,
  silentFirst: false,
  page: 1,
  perPage: 10,
  nowMs: 0,
} as const

export const foundKegs = (database: Database, wanted: Partial<KegsWanted>): FoundKegs =>
  answerOf(kegList(database, { ...allKegs, ...wanted }))

export const hasKeg = (database: Database, { rack, keg }: KegName, cellar = 'north'): boolean =>
  foundKegs(database, { cellar, rack, words: [keg.toLowerCase()], perPage: 1_000 }).kegs.some(
    (found) => found.keg === keg,
  )

export const chartOf = (database: Database, wanted: Partial<ChartsWanted>) => {
  const { kegs, ...range } = answerOf(
    draftCharts(database, {
      cellar: 'north',
      kegs: [{ rack: 'rack', keg: 'keg' }],
      fromMs: 0,
      toMs: 0,
      stepsMax: 400,
      ...wanted,
    }),
  )
  return { ...range, chart: kegs[0] ?? null }
}

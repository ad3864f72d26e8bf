import type {
  ChartSeries,
  ChartView,
  Gap,
  KegName,
  KegPageView,
  KegQuery,
  LatestView,
  SeriesPoint,
  ShownKeg,
} from '../../../../views/kegs/keg-types.ts'
import { answerOf } from '../../../actors/ask/answer-of.ts'
import type { PlaceInLog } from '../../../actors/search/events-at.ts'
import type { ChartPoint, Charts, KegChart, LatestReading } from '../../../derived/readings/shown-kegs.ts'
import type { DashboardDeps } from '../visit.ts'
import { unitIn } from './cellar-views.ts'
import { chartRange } from './keg-query.ts'
import { readingsQuery, stateOf, stateWithout } from './reading-views.ts'

/** 30 days of hours. */
const chartStepsMax = 750
/** That a search for another keg shows. */
const foundKegsMax = 20

export type KegAsked = {
  readonly cellar: string
  readonly name: KegName
  readonly query: KegQuery
}

export type Asker = { readonly nowMs: number; readonly owner: string; readonly signal?: AbortSignal | undefined }

/** `null`: there is no reading of the keg. A model that is behind cannot say so. */
export const kegPageOf = async (deps: DashboardDeps, asked: KegAsked, asker: Asker): Promise<KegPageView | null> => {
  const { cellar, name, query } = asked
  const { nowMs, owner, signal } = asker
  const { fromMs, toMs, isOpen, faults } = chartRange(query, nowMs)
  const kegs = [name, ...query.with]
  const wanted = { cellar, kegs, fromMs, toMs, stepsMax: chartStepsMax }
  const told = await deps.core.questions.ask('kegChart', wanted, { owner, signal })
  const page = { query, faults, isOpen, found: await foundKegs(deps, asked, asker) }
  const main = { ...name, unit: null, latest: null, facts: null }
  const nothing = { ...page, kegs: [main], unknown: [], charts: [], keptFromMs: null }
  if (told.kind !== 'answered') return { ...nothing, state: stateWithout(told.kind) }
  const { answer } = told
  if (answer.kegs[0] === null) return told.isBehind ? { ...nothing, state: { kind: 'behind', asOfMs: null } } : null
  const known = answer.kegs.flatMap((keg) => (keg === null ? [] : [keg]))
  const read = async (places: readonly PlaceInLog[]) =>
    answerOf(await deps.core.questions.ask('eventsAt', places, { owner, isAtOnce: true }))
  return {
    ...page,
    kegs: known.map((keg) => shownKeg(deps, keg, { cellar, nowMs })),
    unknown: kegs.filter((_, number) => answer.kegs[number] === null),
    charts: chartViews(deps, answer, { ...asked, nowMs }),
    keptFromMs: answer.keptFromMs,
    state: await stateOf(told, read),
  }
}

type Showing = { readonly cellar: string; readonly nowMs: number }

export const chartViews = (
  { core }: DashboardDeps,
  { fromMs, toMs, stepMs, kegs }: Charts,
  { cellar, query, nowMs }: Pick<KegAsked, 'query'> & Showing,
): readonly ChartView[] => {
  const known = kegs.flatMap((keg) => (keg === null ? [] : [keg]))
  const series = known.map((chart, number): ChartSeries => {
    const { rack, keg, points, readings } = chart
    return {
      rack,
      keg,
      unit: unitIn(core, cellar, keg),
      number: query.isOwnScale && query.with.length === 0 ? 0 : number,
      points: readings === null ? points.map((point) => pointOf(point, stepMs)) : readings.map(singleOf),
      gaps: gapsOf(chart, nowMs),
      isSingle: readings !== null,
    }
  })
  const axis = { cellar, fromMs, toMs, stepMs }
  return query.isOwnScale ? series.map((one) => ({ ...axis, series: [one] })) : [{ ...axis, series }]
}

const gapsOf = ({ gaps }: KegChart, nowMs: number): readonly Gap[] =>
  gaps.map(({ fromMs, toMs }) => ({ fromMs, toMs: toMs ?? nowMs, isOpen: toMs === null }))

const pointOf = ({ timeMs, count, min, max, mean }: ChartPoint, stepMs: number): SeriesPoint => ({
  at: timeMs + stepMs / 2,
  mean: mean ?? min / 2 + max / 2,
  min,
  max,
  count,
  place: null,
})

const singleOf = ({ timeMs, value, stream, revision }: NonNullable<KegChart['readings']>[number]): SeriesPoint => ({
  at: timeMs,
  mean: value,
  min: value,
  max: value,
  count: 1,
  place: { stream, revision },
})

const shownKeg = (deps: DashboardDeps, chart: KegChart, { cellar, nowMs }: Showing): ShownKeg => {
  const { rack, keg, latest, summary } = chart
  const gaps = gapsOf(chart, nowMs)
  const named = { rack, keg, unit: unitIn(deps.core, cellar, keg) }
  return {
    ...named,
    latest: latest === null ? null : latestView(deps, latest),
    facts: { ...named, pauseMs: meanPauseOf(chart, gaps), gaps, ...summary },
  }
}

/** By the readings' own times: a batch can bring the readings of a day at once. Gaps do not count. */
const meanPauseOf = ({ points, summary }: KegChart, gaps: readonly Gap[]): number | null => {
  const [first, last] = [points.at(0), points.at(-1)]
  if (first === undefined || last === undefined || summary.count < 2) return null
  const within = (ms: number): number => Math.min(Math.max(ms, first.timeMs), last.timeMs)
  const silentMs = gaps.reduce((sum, { fromMs, toMs }) => sum + within(toMs) - within(fromMs), 0)
  const spanMs = last.timeMs - first.timeMs - silentMs
  return spanMs > 0 ? spanMs / (summary.count - 1) : null
}

const latestView = (
  { core }: DashboardDeps,
  { value, timeMs, keyId, stream, revision }: LatestReading,
): LatestView => ({
  value,
  at: timeMs,
  keyId,
  keyLabel: core.projections.keys.get(keyId)?.label ?? keyId,
  place: { stream, revision },
})

/** Without those that the page shows already. */
const foundKegs = async (
  { core }: DashboardDeps,
  { cellar, name, query }: KegAsked,
  { nowMs, owner, signal }: Asker,
): Promise<KegPageView['found']> => {
  const { words } = readingsQuery(new URLSearchParams({ find: query.find }))
  if (words.length === 0) return null
  const shown = [name, ...query.with]
  const sorted = { sort: 'name', isReversed: false, silentFirst: false } as const
  const wanted = { cellar, words, ...sorted, page: 1, perPage: foundKegsMax + shown.length, nowMs }
  const told = await core.questions.ask('kegList', wanted, { owner, signal })
  if (told.kind !== 'answered') return []
  const others = told.answer.kegs.filter(({ rack, keg }) => !shown.some((one) => one.rack === rack && one.keg === keg))
  return others.slice(0, foundKegsMax).map(({ rack, keg }) => ({ rack, keg }))
}

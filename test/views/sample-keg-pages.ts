import type { Turn } from '../../views/kegs/in-pieces.ts'
import { KegPage, KegPush } from '../../views/kegs/keg-page.tsx'
import type {
  ChartSeries,
  ChartView,
  KegPageView,
  RackPageView,
  SeriesPoint,
  ShownKeg,
} from '../../views/kegs/keg-types.ts'
import { RackPage } from '../../views/kegs/rack-page.tsx'
import type { CellarView, Shell } from '../../views/types.ts'
import type { Page, Texts } from './every-page.ts'
import { sampleRefusalRows } from './log-pages.ts'
import { samplePast, sampleRules } from './sample-attention-pages.ts'

const minute = 60_000
const hour = 60 * minute

/** A curve with a silence of two hours, from `fromMs` on. */
const steps = (fromMs: number, number: number): ChartSeries['points'] =>
  Array.from({ length: 288 }, (_, at) => at)
    .filter((at) => at < 150 || at >= 174)
    .map((at) => {
      const mean = 12 + number + Math.sin(at / 30) + Math.sin(at * 1.7) / 8
      return {
        at: fromMs + (at + 0.5) * 5 * minute,
        mean,
        min: Math.round((mean - 0.3) * 100) / 100,
        max: Math.round((mean + 0.25) * 100) / 100,
        count: 30,
        place: null,
      }
    })

const readings = (fromMs: number): ChartSeries['points'] =>
  Array.from({ length: 40 }, (_, at) => {
    const value = Math.round((12 + Math.sin(at / 5)) * 100) / 100
    const place = { stream: 'readings-7Qp2abCd', revision: 900 + at }
    return { at: fromMs + at * 90_000, mean: value, min: value, max: value, count: 1, place }
  })

const shownKeg = (texts: Texts, nowMs: number, number: number): ShownKeg => {
  const name = { rack: texts('rack'), keg: texts('keg') }
  const place = { stream: 'readings-7Qp2abCd', revision: 976 }
  return {
    ...name,
    unit: number === 0 ? texts('unit') : null,
    latest: {
      value: 12.41 + number,
      at: nowMs - 8_000,
      keyId: '7Qp2abCd',
      keyLabel: texts('label'),
      place,
    },
    facts: {
      ...name,
      unit: number === 0 ? texts('unit') : null,
      count: 7_913,
      pauseMs: 10_000,
      lowest: { ...place, value: 11.2, timeMs: nowMs - 7 * hour },
      highest: { ...place, value: 13.6, timeMs: nowMs - 15 * hour },
      mean: 12.383_333_3,
      gaps: [{ fromMs: nowMs - 11.5 * hour, toMs: nowMs - 9.5 * hour, isOpen: false }],
      late: { count: 41, maxMs: 3 * minute },
      repeats: 2,
      ahead: 1,
    },
  }
}

const kegPageView = (texts: Texts, nowMs: number, kegs: number): KegPageView => {
  const toMs = Math.ceil(nowMs / (5 * minute)) * 5 * minute
  const fromMs = toMs - 24 * hour
  const shown = Array.from({ length: kegs }, (_, number) => shownKeg(texts, nowMs, number))
  const series = shown.map(
    ({ rack, keg, unit, facts }, number): ChartSeries => ({
      rack,
      keg,
      unit,
      number,
      points: steps(fromMs, number),
      gaps: facts?.gaps ?? [],
      isSingle: false,
    }),
  )
  return {
    query: {
      range: '24h',
      from: '',
      to: '',
      with: shown.slice(1).map(({ rack, keg }) => ({ rack, keg })),
      isOwnScale: false,
      isPaused: false,
      find: '',
      table: 0,
    },
    faults: {},
    kegs: shown,
    unknown: [],
    charts: [{ cellar: texts('cellar'), fromMs, toMs, stepMs: 5 * minute, series }],
    keptFromMs: null,
    isOpen: true,
    state: { kind: 'current' },
    found: null,
  }
}

export type SamplePush = {
  /** Of the newest point. */
  readonly mean?: number
  /** Readings that came late, in the oldest step. */
  readonly late?: number
  /** So many steps later than the page. */
  readonly laterSteps?: number
}

/** An update of the page `keg`. */
export const sampleKegPush = (texts: Texts, nowMs: number, push: SamplePush): JSX.Element => {
  const page = kegPageView(texts, nowMs, 1)
  const { mean, late = 0, laterSteps = 0 } = push
  const charts = page.charts.map((chart) => {
    const fromMs = chart.fromMs + laterSteps * chart.stepMs
    const pointOf = (point: SeriesPoint, at: number, { length }: { readonly length: number }): SeriesPoint => {
      if (at === 0) return { ...point, count: point.count + late }
      return at === length - 1 && mean !== undefined ? { ...point, mean, min: mean, max: mean } : point
    }
    const series = chart.series.map((one) => ({
      ...one,
      points: one.points.map(pointOf).filter(({ at }) => at >= fromMs),
    }))
    return { ...chart, fromMs, toMs: chart.toMs + laterSteps * chart.stepMs, series }
  })
  return KegPush({ cellar: texts('cellar'), page: { ...page, charts }, nowMs })
}

const rackPageView = (texts: Texts, nowMs: number): RackPageView => {
  const { query, charts, kegs } = kegPageView(texts, nowMs, 1)
  const [chart = null] = charts
  return {
    rack: texts('rack'),
    query,
    faults: {},
    isOpen: true,
    summary: { rack: texts('rack'), kegs: 70, silent: 1, acceptedMs: nowMs - 8_000 },
    kegs: [chart, chart, null, chart].map((drawn, at) => ({
      keg: texts('keg'),
      unit: kegs[0]?.unit ?? null,
      value: 12.41 + at,
      acceptedMs: nowMs - 8_000 - at * 7 * hour,
      isSilent: at > 1,
      chart: drawn,
    })),
    page: 2,
    pages: 3,
    keptFromMs: nowMs - hour,
    keys: [{ keyId: '7Qp2abCd', label: texts('label'), lastMs: nowMs - (nowMs % minute) }],
    refusals: sampleRefusalRows(texts, nowMs),
    state: { kind: 'current' },
  }
}

export const kegPages = (
  texts: Texts,
  { shell, cellar, turn }: { readonly shell: Shell; readonly cellar: CellarView; readonly turn?: Turn },
): readonly Page[] => {
  const { nowMs } = shell
  const one = kegPageView(texts, nowMs, 1)
  const four = kegPageView(texts, nowMs, 4)
  const [chart] = one.charts
  if (chart === undefined) return []
  const past = samplePast(texts, nowMs)
  const silence = sampleRules(texts)
  const page = (name: string, view: KegPageView): Page => ({
    name,
    html: KegPage({ shell, cellar, page: view, past: view.charts.length === 0 ? null : past, silence, turn }),
  })
  const single: ChartView = {
    ...chart,
    fromMs: chart.toMs - hour,
    stepMs: minute,
    series: chart.series.map((series) => ({
      ...series,
      points: readings(chart.toMs - hour),
      gaps: [],
      isSingle: true,
    })),
  }
  const typed = { ...one.query, from: texts('typed'), to: texts('typed'), find: texts('typed'), isPaused: true }
  const name = { rack: texts('rack'), keg: texts('keg') }
  return [
    page('keg', one),
    page('keg-table', { ...one, query: { ...one.query, table: 2 } }),
    page('keg-single', { ...one, charts: [single], query: { ...one.query, range: '1h', table: 1 } }),
    page('keg-compared', four),
    page('keg-own-scales', {
      ...four,
      query: { ...four.query, isOwnScale: true },
      charts: four.charts.flatMap((all) => all.series.map((series) => ({ ...all, series: [series] }))),
    }),
    page('keg-faults', {
      ...one,
      query: typed,
      faults: { from: texts('fault'), to: texts('fault') },
      unknown: [name, name],
      found: [name, name],
      keptFromMs: nowMs - hour,
      state: { kind: 'behind', asOfMs: nowMs - hour },
    }),
    page('keg-away', {
      ...one,
      kegs: one.kegs.map((keg) => ({ ...keg, latest: null, facts: null })),
      charts: [],
      state: { kind: 'away' },
    }),
    { name: 'rack', html: RackPage({ shell, cellar, page: rackPageView(texts, nowMs), past, silence, turn }) },
    {
      name: 'rack-away',
      html: RackPage({
        shell,
        cellar,
        page: { ...rackPageView(texts, nowMs), summary: null, kegs: [], pages: 1, keys: [], state: { kind: 'away' } },
        past: { past: [], sinceMs: nowMs, isCut: false },
        silence,
      }),
    },
    page('keg-without-readings', {
      ...one,
      isOpen: false,
      found: [],
      charts: [{ ...chart, series: chart.series.map((series) => ({ ...series, points: [], gaps: [] })) }],
    }),
  ]
}

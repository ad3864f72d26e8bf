import { plainName } from '../../src/hidden-characters.ts'
import { secondText } from '../parts/time-words.ts'
import { paths } from '../paths.ts'
import { gapText, unitOf } from './chart-picture.tsx'
import { timeTicks, valueScale } from './chart-scale.ts'
import type { ChartSeries, ChartView, SeriesPoint } from './keg-types.ts'

/** What `assets/chart.js` draws, as JSON. From `sinceMs` on, so that a live update is small. */
export const chartData = (chart: ChartView, sinceMs: number): string => {
  const { fromMs, toMs, stepMs } = chart
  const scale = valueScale(chart.series)
  return JSON.stringify({
    from: fromMs,
    to: toMs,
    since: sinceMs,
    step: stepMs,
    times: timeTicks(fromMs, toMs).map(({ at, text }) => [at, text]),
    low: scale.low,
    high: scale.high,
    decimals: scale.decimals,
    values: scale.ticks.map(({ at, text }) => [at, `${text}${unitOf(chart.series)}`]),
    series: chart.series.map((series) => seriesData(series, { sinceMs, decimals: scale.decimals })),
  })
}

const seriesData = (
  series: ChartSeries,
  { sinceMs, decimals }: { readonly sinceMs: number; readonly decimals: number },
) => ({
  name: plainName(`${series.rack} / ${series.keg}`),
  unit: series.unit === null ? '' : plainName(series.unit),
  single: series.isSingle,
  points: series.points.filter(({ at }) => at >= sinceMs).map((point) => pointData(point, decimals)),
  gaps: series.gaps.map((gap) => [gap.fromMs, gap.toMs, gapText(gap)]),
})

const pointData = ({ at, mean, min, max, count, place }: SeriesPoint, decimals: number) =>
  place === null
    ? [at, Number(mean.toFixed(decimals)), min, max, count]
    : [at, mean, min, max, count, paths.event(place.stream, place.revision)]

/** For `from` and `to` in an address: UTC. */
export const addressTime = (at: number): string => secondText(at).replace(' UTC', '')

import { plainName } from '../../src/hidden-characters.ts'
import { dayMs, secondText } from '../parts/time-words.ts'
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
    series: chart.series.map((series) => seriesData(series, sinceMs)),
  })
}

const seriesData = (series: ChartSeries, sinceMs: number) => {
  const streams = [...new Set(series.points.flatMap(({ place }) => (place === null ? [] : [place.stream])))]
  return {
    name: plainName(`${series.rack} / ${series.keg}`),
    unit: series.unit === null ? '' : plainName(series.unit),
    single: series.isSingle,
    // Readings before the points of a live update. With more than are drawn, some came late.
    before: series.points.reduce((sum, { at, count }) => (at < sinceMs ? sum + count : sum), 0),
    /** A page can have 2,000 readings, so each names only the number of its stream. */
    streams: streams.map((stream) => paths.event(stream, '')),
    points: series.points.filter(({ at }) => at >= sinceMs).map((point) => pointData(point, streams)),
    gaps: series.gaps.map((gap) => [gap.fromMs, gap.toMs, gapText(gap)]),
  }
}

const pointData = ({ at, mean, min, max, count, place }: SeriesPoint, streams: readonly string[]) =>
  place === null
    ? [at, Number(mean.toPrecision(12)), min, max, count]
    : [at, mean, streams.indexOf(place.stream), place.revision]

/** A day less than the service accepts, because charts begin and end at whole steps. */
const rangeMsMax = (3 * 366 - 1) * dayMs

/** What a range of this length can have more on each side: at most `wantedMs`. */
export const widerBy = (lengthMs: number, wantedMs: number): number =>
  Math.min(wantedMs, Math.max(0, rangeMsMax - lengthMs) / 2)

/** Fields of an address for this range, which the service accepts. */
export const rangeFields = (fromMs: number, toMs: number) => ({
  from: addressTime(Math.max(0, fromMs, toMs - rangeMsMax)),
  to: addressTime(toMs),
  table: 0,
})

/** For `from` and `to` in an address: UTC. */
export const addressTime = (at: number): string => secondText(at).replace(' UTC', '')

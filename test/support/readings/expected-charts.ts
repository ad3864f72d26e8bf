import type { ChartGap, ChartPoint } from '../../../src/derived/readings/shown-kegs.ts'
import { byTime, type Folded } from './expected-readings.ts'

const hourMs = 3_600_000

type Range = {
  readonly stepMs: number
  readonly bucketMs: number
  readonly fromMs: number
  readonly toMs: number
  /** As asked. */
  readonly nowMs: number
  readonly pauseMs: number | null
}

/** Computes from the readings of one keg what a chart must show. `ahead` are those that were too far ahead. */
export const expectedChart = (readings: readonly Folded[], ahead: readonly Folded[], range: Range) => {
  const { fromMs, toMs, bucketMs } = range
  const sorted = readings.toSorted(byTime)
  const shown = sorted.filter(({ ms }) => ms >= fromMs && ms < toMs)
  const lates = shown.map(({ recordedAt, ms }) => recordedAt - ms).filter((ms) => ms > 60_000)
  const hourOf = (ms: number): number => Math.floor(ms / hourMs)
  const extreme = (sign: 1 | -1) => {
    const bucketOf = ({ ms }: Folded): number => Math.floor(ms / bucketMs)
    const [first] = shown.toSorted(
      (a, b) => sign * (a.value - b.value) || bucketOf(a) - bucketOf(b) || a.position - b.position,
    )
    return first === undefined ? null : { value: first.value, position: first.position }
  }
  return {
    points: pointsOf(shown, range.stepMs),
    gaps: gapsOf(sorted, range),
    summary: {
      count: shown.length,
      mean: meanOf(shown),
      late: { count: lates.length, maxMs: Math.max(0, ...lates) },
      repeats: shown.filter(({ isRepeat }) => isRepeat).length,
      ahead: ahead.filter(
        ({ recordedAt }) => hourOf(recordedAt) >= hourOf(fromMs) && hourOf(recordedAt) * hourMs < toMs,
      ).length,
    },
    lowest: extreme(1),
    highest: extreme(-1),
  }
}

const pointsOf = (readings: readonly Folded[], stepMs: number): readonly ChartPoint[] =>
  [...Map.groupBy(readings, ({ ms }) => Math.floor(ms / stepMs) * stepMs)].map(([timeMs, list]) => {
    const values = list.map(({ value }) => value)
    return {
      timeMs,
      count: list.length,
      min: Math.min(...values),
      max: Math.max(...values),
      mean: meanOf(list),
      first: values[0] ?? 0,
      last: values.at(-1) ?? 0,
    }
  })

/** To 9 digits: a sum depends on its order. */
export const meanOf = (readings: readonly Folded[]): number | null =>
  readings.length === 0 ? null : rounded(readings.reduce((sum, { value }) => sum + value, 0) / readings.length)

export const rounded = (mean: number): number => Number(mean.toPrecision(9))

const gapsOf = (sorted: readonly Folded[], { fromMs, toMs, nowMs, stepMs, pauseMs }: Range): readonly ChartGap[] => {
  const gapMs = Math.max(3 * (pauseMs ?? 0), 1.5 * stepMs)
  const timeOf = ({ ms, nanoseconds }: Folded): number => ms + nanoseconds / 1e6
  const gaps: ChartGap[] = []
  for (const [index, reading] of sorted.entries()) {
    const before = sorted[index - 1]
    if (before === undefined || timeOf(reading) - timeOf(before) <= gapMs) continue
    if (reading.ms < fromMs || before.ms >= toMs) continue
    if (Math.floor(before.ms / hourMs) < Math.floor(fromMs / hourMs) - 744) continue
    if (Math.floor(reading.ms / hourMs) >= Math.floor(toMs / hourMs) + 744) continue
    gaps.push({ fromMs: before.ms, toMs: reading.ms })
  }
  const last = sorted.at(-1)
  if (last !== undefined && last.ms < nowMs && nowMs - last.ms > gapMs) gaps.push({ fromMs: last.ms, toMs: null })
  return gaps
}

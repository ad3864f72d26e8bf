import { shareOf, type ValueScale } from './chart-scale.ts'
import type { ChartSeries, Gap, SeriesPoint } from './keg-types.ts'

/** The picture is stretched to its place, so this number only decides how fine the drawing is. */
export const shapeWidth = 10_000

export type Axes = {
  readonly fromMs: number
  readonly toMs: number
  readonly scale: ValueScale
  readonly height: number
}

/** 0 at the left edge, 1 at the right edge. */
export const timeShare = (at: number, { fromMs, toMs }: Pick<Axes, 'fromMs' | 'toMs'>): number =>
  Math.max(0, Math.min(1, (at - fromMs) / (toMs - fromMs)))

export const heightOf = (value: number, { scale, height }: Axes): number =>
  Math.round((1 - shareOf(value, scale)) * height * 10) / 10

/** For the attribute `d` of a path. */
export type Shapes = { readonly line: string; readonly band: string; readonly dots: string }

/** More dots would hide the line. */
const dotsMax = 500

export const shapesOf = (series: ChartSeries, axes: Axes): Shapes => {
  const stretches = stretchesOf(series)
  const place = (point: SeriesPoint, value: number): string =>
    `${Math.round(timeShare(point.at, axes) * shapeWidth)} ${heightOf(value, axes)}`
  const line = (points: readonly SeriesPoint[], of: 'mean' | 'min' | 'max'): string =>
    points.map((point) => place(point, point[of])).join('L')
  const isDotted = series.isSingle && series.points.length <= dotsMax
  const dotted = isDotted ? series.points : stretches.flatMap((points) => (points.length === 1 ? points : []))
  return {
    line: stretches.map((points) => `M${line(points, 'mean')}`).join(''),
    band: series.isSingle
      ? ''
      : stretches.map((points) => `M${line(points, 'max')}L${line(points.toReversed(), 'min')}Z`).join(''),
    // A line without a length is drawn as a dot, which no stretching deforms.
    dots: dotted.map((point) => `M${place(point, point.mean)}h0`).join(''),
  }
}

/** Without a gap. `assets/chart.js` breaks the line by the same rule. */
const stretchesOf = ({ points, gaps }: ChartSeries): readonly (readonly SeriesPoint[])[] => {
  const stretches: SeriesPoint[][] = []
  let before: SeriesPoint | null = null
  for (const point of points) {
    const last = stretches.at(-1)
    if (last === undefined || before === null || hasGap(gaps, before.at, point.at)) stretches.push([point])
    else last.push(point)
    before = point
  }
  return stretches
}

const hasGap = (gaps: readonly Gap[], fromMs: number, toMs: number): boolean =>
  gaps.some((gap) => {
    const middleMs = (gap.fromMs + gap.toMs) / 2
    return middleMs > fromMs && middleMs < toMs
  })

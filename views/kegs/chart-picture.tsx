import { plainName } from '../../src/hidden-characters.ts'
import { countOf } from '../parts/quantity.ts'
import { secondText } from '../parts/time-words.ts'
import { aboutText, type Tick, timeTicks, type ValueScale, valueScale, valueText } from './chart-scale.ts'
import { type Axes, heightOf, shapesOf, shapeWidth, timeShare } from './chart-shape.ts'
import type { ChartSeries, ChartView, Gap } from './keg-types.ts'

const top = 12
const bottom = 28
const plotHeight = 220

/**
 * Made by the server, so it needs no JavaScript. Places are percentages, and only the curves are stretched: so texts have
 * their size at any width of the page.
 */
export const ChartPicture = (props: {
  readonly chart: ChartView
  /** Several charts can be on a page. */
  readonly id: string
  readonly height?: number
}): JSX.Element => {
  const { chart, id, height = plotHeight } = props
  const scale = valueScale(chart.series)
  const axes = { fromMs: chart.fromMs, toMs: chart.toMs, scale, height }
  return (
    <div class="chart-picture">
      <p id={`${id}-words`} class="visually-hidden" safe>
        {chart.series.map((series) => wordsOf(series, scale)).join(' ')}
      </p>
      <ValueAxis axes={axes} unit={unitOf(chart.series)} />
      <svg
        class="chart-plot"
        width="100%"
        height={top + height + bottom}
        role="img"
        aria-labelledby={`${id}-title`}
        aria-describedby={`${id}-words`}
      >
        <title id={`${id}-title`} safe>
          {titleText(chart)}
        </title>
        {scale.ticks.map(({ at }) => (
          <line class="chart-grid" x1="0" x2="100%" y1={top + heightOf(at, axes)} y2={top + heightOf(at, axes)} />
        ))}
        {/* `assets/chart.js` reads its colour. */}
        <rect class="chart-shade" width="0" height="0" />
        {shadedGaps(chart.series).map((gap) => (
          <GapPlace gap={gap} axes={axes} />
        ))}
        <svg
          y={top}
          width="100%"
          height={height}
          viewBox={`0 0 ${shapeWidth} ${height}`}
          preserveAspectRatio="none"
          aria-hidden="true"
        >
          {chart.series.map((series) => (
            <Curve series={series} axes={axes} />
          ))}
        </svg>
        {timeTicks(chart.fromMs, chart.toMs).map((tick, number) => (
          <TimeLabel tick={tick} number={number} axes={axes} />
        ))}
      </svg>
    </div>
  )
}

const ValueAxis = (props: { readonly axes: Axes; readonly unit: string }): JSX.Element => {
  const { axes, unit } = props
  const texts = axes.scale.ticks.map(({ text }) => `${text}${unit}`)
  const width = 8 + 7 * Math.max(...texts.map((text) => text.length))
  return (
    <svg class="chart-values" width={width} height={top + axes.height + bottom} aria-hidden="true">
      {axes.scale.ticks.map(({ at }, number) => (
        <text x={width - 8} y={top + heightOf(at, axes)} dy="0.32em" text-anchor="end" safe>
          {texts[number] ?? ''}
        </text>
      ))}
    </svg>
  )
}

/** A longer unit is said beside the latest value only. */
const unitCharsMax = 5

/** With a space. Blank if the series have different units. */
export const unitOf = ([first, ...others]: readonly ChartSeries[]): string => {
  const unit = first?.unit ?? null
  const isShown = unit !== null && unit.length <= unitCharsMax && others.every((other) => other.unit === unit)
  return isShown ? ` ${plainName(unit)}` : ''
}

const Curve = (props: { readonly series: ChartSeries; readonly axes: Axes }): JSX.Element => {
  const { line, band, dots } = shapesOf(props.series, props.axes)
  return (
    <g class={`chart-series series-${props.series.number}`}>
      {band === '' ? null : <path class="chart-band" d={band} />}
      <path class="chart-line" d={line} vector-effect="non-scaling-stroke" />
      {dots === '' ? null : <path class="chart-dots" d={dots} vector-effect="non-scaling-stroke" />}
    </g>
  )
}

/** The least widths of the picture, in characters: on a wide screen and on a phone. */
const charsWide = 180
const charsNarrow = 42

/** Gaps of several kegs would lie on each other. Their lines are broken all the same. */
const shadedGaps = ([first, ...others]: readonly ChartSeries[]): readonly Gap[] =>
  others.length === 0 ? (first?.gaps ?? []) : []

const GapPlace = (props: { readonly gap: Gap; readonly axes: Axes }): JSX.Element => {
  const { gap, axes } = props
  const from = timeShare(gap.fromMs, axes)
  const width = timeShare(gap.toMs, axes) - from
  if (width <= 0) return ''
  const text = gapText(gap)
  return (
    <g>
      <rect class="chart-shade" x={percent(from)} width={percent(width)} y={top} height={axes.height} />
      {width * charsWide < text.length ? null : (
        <text
          class={width * charsNarrow < text.length ? 'wide-only' : undefined}
          x={percent(from)}
          dx="5"
          y={top + 14}
          safe
        >
          {text}
        </text>
      )}
    </g>
  )
}

export const gapText = (gap: Gap): string => `silent for ${aboutText(gap.toMs - gap.fromMs)}`

const TimeLabel = (props: { readonly tick: Tick; readonly number: number; readonly axes: Axes }): JSX.Element => {
  const { tick, number, axes } = props
  const share = timeShare(tick.at, axes)
  const anchor = share < 0.04 ? 'start' : share > 0.94 ? 'end' : 'middle'
  const isAtNarrowEnd = (1 - share) * charsNarrow < tick.text.length / 2
  const y = top + axes.height
  return (
    <g class={`chart-time${number % 3 === 0 ? '' : ' wide-only'}${isAtNarrowEnd ? ' at-narrow-end' : ''}`}>
      <line x1={percent(share)} x2={percent(share)} y1={y} y2={y + 5} />
      <text x={percent(share)} y={y + 19} text-anchor={anchor} safe>
        {tick.text}
      </text>
    </g>
  )
}

const percent = (share: number): string => `${Math.round(share * 10_000) / 100}%`

const titleText = ({ series, fromMs, toMs }: ChartView): string =>
  plainName(
    `${series.map(({ rack, keg }) => `${keg} of ${rack}`).join(' and ')}, from ${secondText(fromMs)} to ${secondText(toMs)}`,
  )

const wordsOf = ({ keg, points, gaps }: ChartSeries, scale: ValueScale): string => {
  if (points.length === 0) return `${plainName(keg)}: no readings.`
  const [first, last] = [points[0], points.at(-1)]
  const lowest = points.reduce((least, { min }) => Math.min(least, min), Number.POSITIVE_INFINITY)
  const highest = points.reduce((most, { max }) => Math.max(most, max), Number.NEGATIVE_INFINITY)
  const text = (value: number | undefined): string => valueText(value ?? 0, scale.decimals)
  const silent = gaps.length === 0 ? '' : ` Silent ${countOf(gaps.length, 'time', 'times')}.`
  return `${plainName(keg)}: from ${text(first?.mean)} to ${text(last?.mean)}, lowest ${text(lowest)}, highest ${text(highest)}.${silent}`
}

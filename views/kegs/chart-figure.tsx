import { attribute } from '../parts/name.tsx'
import { dayMs } from '../parts/time-words.ts'
import { paths } from '../paths.ts'
import { chartData, rangeFields, widerBy } from './chart-data.ts'
import { ChartPicture } from './chart-picture.tsx'
import type { ChartView, KegPageView } from './keg-types.ts'

/** A live update has the points of so many steps. `assets/chart.js` loads the page again if it missed more. */
const newestSteps = 3

export const chartSince = ({ toMs, stepMs }: ChartView): number => toMs - newestSteps * stepMs

/** With JavaScript, `assets/chart.js` replaces the picture by a drawing of the same data. */
export const ChartFigure = (props: {
  readonly chart: ChartView
  readonly page: KegPageView
  readonly number: number
}): JSX.Element => {
  const { chart, page, number } = props
  const [main] = page.kegs
  if (main === undefined) return ''
  const isEmpty = chart.series.every(({ points }) => points.length === 0)
  const id = number === 0 ? 'chart' : `chart-${number + 1}`
  return (
    <figure
      class="card chart"
      id={id}
      data-chart={attribute(chartData(chart, chart.fromMs))}
      data-log={attribute(paths.log({ kind: 'readings', cellar: chart.cellar, rack: rackOf(chart) }))}
    >
      <ChartPicture chart={chart} id={id} />
      <figcaption>
        {isEmpty ? <strong>No reading has a time in this range. </strong> : <span safe>{captionText(chart)}</span>}
        <span class="only-live">
          {' '}
          Choose a stretch to zoom, or a point to see its readings.{' '}
          <span class="wide-only">
            Keys: <kbd>←</kbd> <kbd>→</kbd> <kbd>Enter</kbd> <kbd>+</kbd> <kbd>−</kbd> <kbd>Esc</kbd>.
          </span>
        </span>{' '}
        {page.query.table === 0 && number === 0 && !isEmpty ? (
          <a href={attribute(`${paths.keg(chart.cellar, main.rack, main.keg, { ...page.query, table: 1 })}#table`)}>
            The same as a table
          </a>
        ) : null}
        <ChartTurns chart={chart} page={page} />
      </figcaption>
    </figure>
  )
}

/** Blank if the kegs are in several racks. */
const rackOf = ({ series: [first, ...others] }: ChartView): string =>
  first !== undefined && others.every(({ rack }) => rack === first.rack) ? first.rack : ''

const captionText = ({ series, stepMs }: ChartView): string =>
  series.every(({ isSingle }) => isSingle)
    ? 'Each point is one reading.'
    : `Mean of each ${stepWords(stepMs)}, with lowest and highest.`

const stepWords = (stepMs: number): string => {
  const [many, unit] = stepMs < hourMs ? [stepMs / 60_000, 'minute'] : [stepMs / hourMs, 'hour']
  if (stepMs === dayMs) return 'day'
  return many === 1 ? unit : `${many} ${unit}s`
}

const hourMs = 3_600_000

/** By the chart's own length. Later times than now are empty. */
const ChartTurns = (props: { readonly chart: ChartView; readonly page: KegPageView }): JSX.Element => {
  const { chart, page } = props
  const [main] = page.kegs
  const { fromMs, toMs, stepMs, cellar } = chart
  const length = toMs - fromMs
  if (main === undefined) return ''
  const wider = widerBy(length, length / 2)
  const href = (from: number, to: number): string =>
    attribute(paths.keg(cellar, main.rack, main.keg, { ...page.query, ...rangeFields(from, to) }))
  return (
    <span class="chart-turns">
      {fromMs <= 0 ? null : <a href={href(fromMs - length / 2, toMs - length / 2)}>← Earlier</a>}{' '}
      {page.isOpen ? null : <a href={href(fromMs + length / 2, toMs + length / 2)}>Later →</a>}{' '}
      <a href={href(fromMs + length / 4, toMs - length / 4)} data-zoom="in">
        Zoom in
      </a>{' '}
      {wider < stepMs ? null : (
        <a href={href(fromMs - wider, toMs + (page.isOpen ? 0 : wider))} data-zoom="out">
          Zoom out
        </a>
      )}{' '}
      {page.query.from === '' && page.query.to === '' ? null : (
        <a
          href={attribute(paths.keg(cellar, main.rack, main.keg, { ...page.query, from: '', to: '', table: 0 }))}
          data-zoom="reset"
        >
          Back to now
        </a>
      )}
    </span>
  )
}

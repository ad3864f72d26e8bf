import { attribute, Name } from '../parts/name.tsx'
import { PageLinks } from '../parts/page-links.tsx'
import { countText } from '../parts/quantity.ts'
import { exactText, isoText } from '../parts/time-words.ts'
import { paths } from '../paths.ts'
import { addressTime } from './chart-data.ts'
import { valueScale, valueText } from './chart-scale.ts'
import type { ChartSeries, KegPageView, SeriesPoint } from './keg-types.ts'

export const tableRowsPerPage = 100

/** Newest first. */
export const ChartTable = (props: { readonly cellar: string; readonly page: KegPageView }): JSX.Element => {
  const { page } = props
  const [main] = page.kegs
  if (main === undefined) return ''
  const all = page.charts.flatMap(({ series, stepMs }) => series.map((one) => ({ series: one, stepMs })))
  const longest = Math.max(...all.map(({ series }) => series.points.length))
  const pages = Math.max(1, Math.ceil(longest / tableRowsPerPage))
  const shown = Math.min(page.query.table, pages)
  return (
    <section id="table" aria-labelledby="table-title">
      <h2 id="table-title">
        As a table{' '}
        <small>
          newest first, in UTC ·{' '}
          <a href={attribute(paths.keg(props.cellar, main.rack, main.keg, { ...page.query, table: 0 }))}>Hide</a>
        </small>
      </h2>
      {all.map(({ series, stepMs }) => (
        <SeriesTable cellar={props.cellar} series={series} stepMs={stepMs} page={shown} />
      ))}
      <PageLinks
        page={shown}
        pages={pages}
        hrefOf={(table) => `${paths.keg(props.cellar, main.rack, main.keg, { ...page.query, table })}#table`}
        words={{ before: 'Newer', behind: 'Older' }}
      />
    </section>
  )
}

type TableProps = {
  readonly cellar: string
  readonly series: ChartSeries
  readonly stepMs: number
  readonly page: number
}

const SeriesTable = (props: TableProps): JSX.Element => {
  const { series, page } = props
  const { decimals } = valueScale([series])
  const rows = series.points.toReversed().slice((page - 1) * tableRowsPerPage, page * tableRowsPerPage)
  if (rows.length === 0) return ''
  return (
    <div class="table-room">
      <table class="chart-table">
        <caption class="quiet">
          <Name text={`${series.rack} / ${series.keg}`} />
          {series.unit === null ? null : (
            <>
              , <Name text={series.unit} />
            </>
          )}
        </caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {(series.isSingle ? ['Value'] : ['Mean', 'Lowest', 'Highest', 'Readings']).map((words) => (
              <th scope="col" class="number" safe>
                {words}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((point) => (
            <Row {...props} point={point} decimals={decimals} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

const Row = (props: TableProps & { readonly point: SeriesPoint; readonly decimals: number }): JSX.Element => {
  const { point, decimals } = props
  if (point.place !== null)
    return (
      <tr>
        <th scope="row">
          <a href={attribute(paths.event(point.place.stream, point.place.revision))} safe>
            {exactText(point.at).replace(' UTC', '')}
          </a>
        </th>
        <td class="number value">{point.mean}</td>
      </tr>
    )
  const fromMs = point.at - props.stepMs / 2
  const range = { from: isoText(fromMs), to: isoText(fromMs + props.stepMs) }
  return (
    <tr>
      <th scope="row">
        <a
          href={attribute(paths.log({ kind: 'readings', cellar: props.cellar, rack: props.series.rack, ...range }))}
          safe
        >
          {addressTime(fromMs).slice(0, 16)}
        </a>
      </th>
      <td class="number value" safe>
        {valueText(point.mean, decimals)}
      </td>
      <td class="number">{point.min}</td>
      <td class="number">{point.max}</td>
      <td class="number" safe>
        {countText(point.count)}
      </td>
    </tr>
  )
}

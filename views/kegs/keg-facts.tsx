import type { Children } from '@kitajs/html'
import { Fact } from '../parts/fact.tsx'
import { attribute, Name } from '../parts/name.tsx'
import { countOf, countText } from '../parts/quantity.ts'
import { type Column, Table } from '../parts/table.tsx'
import { clockText, dateText } from '../parts/time-words.ts'
import { Value } from '../parts/value.tsx'
import { paths } from '../paths.ts'
import { addressTime, rangeFields, widerBy } from './chart-data.ts'
import { aboutText, valueScale, valueText } from './chart-scale.ts'
import type { ExtremeView, Gap, KegFacts, KegPageView, RangeName } from './keg-types.ts'

/** A live update replaces it. */
export const KegFactsCards = (props: { readonly cellar: string; readonly page: KegPageView }): JSX.Element => {
  const [main, ...others] = props.page.kegs.flatMap(({ facts }) => (facts === null ? [] : [facts]))
  return (
    <div id="keg-facts">
      {main === undefined ? null : others.length === 0 ? (
        <FactsCard {...props} facts={main} />
      ) : (
        <FactsTable {...props} all={[main, ...others]} />
      )}
    </div>
  )
}

type FactsProps = {
  readonly cellar: string
  readonly page: KegPageView
  readonly facts: KegFacts
}

const FactsCard = (props: FactsProps): JSX.Element => {
  const { page, facts } = props
  return (
    <section class="card" aria-labelledby="facts-title">
      <h2 id="facts-title" safe>
        {rangeTitle(page)}
      </h2>
      <dl class="facts-list">
        <Fact term="Readings">
          <span safe>{countWords(facts)}</span>
        </Fact>
        {facts.lowest === null || facts.highest === null ? null : (
          <Fact term="Lowest, highest">
            <Extreme extreme={facts.lowest} unit={facts.unit} page={page} /> ·{' '}
            <Extreme extreme={facts.highest} unit={facts.unit} page={page} />
          </Fact>
        )}
        {facts.mean === null ? null : (
          <Fact term="Mean">
            <Value value={meanText(page, facts)} unit={facts.unit} />
          </Fact>
        )}
        <Fact term="Silent">
          <Silences {...props} />
        </Fact>
        <Fact term="Came late">
          <Late facts={facts} />
        </Fact>
        {facts.repeats === 0 ? null : (
          <Fact term="Same time twice">
            <span safe>{countOf(facts.repeats, 'reading', 'readings')}</span>
          </Fact>
        )}
        {facts.ahead === 0 ? null : (
          <Fact term="Clock ahead">
            <span safe>
              {`${countOf(facts.ahead, 'reading', 'readings')} with a time in the future, not drawn. Correct the clock of the device.`}
            </span>
          </Fact>
        )}
      </dl>
    </section>
  )
}

type PageProps = Omit<FactsProps, 'facts'>

const FactsTable = (props: PageProps & { readonly all: readonly KegFacts[] }): JSX.Element => (
  <section aria-labelledby="facts-title">
    <h2 id="facts-title" safe>
      {rangeTitle(props.page)}
    </h2>
    <Table rows={props.all} columns={factColumns(props)} room="wider" />
  </section>
)

const factColumns = ({ cellar, page }: PageProps): readonly Column<KegFacts>[] => [
  {
    head: 'Rack and keg',
    cell: ({ rack, keg }) => (
      <>
        <Name class="under" text={rack} />
        <Name class="row-name" text={keg} />
      </>
    ),
  },
  { head: 'Readings', cell: (facts) => <span safe>{countWords(facts)}</span> },
  {
    head: 'Lowest, highest',
    cell: ({ lowest, highest, unit }) => (
      <span>
        {lowest === null ? '–' : <Extreme extreme={lowest} unit={unit} page={page} />}
        <br />
        {highest === null ? '–' : <Extreme extreme={highest} unit={unit} page={page} />}
      </span>
    ),
  },
  {
    head: 'Mean',
    isNumber: true,
    cell: (facts) => (
      <span>{facts.mean === null ? '–' : <Value value={meanText(page, facts)} unit={facts.unit} />}</span>
    ),
  },
  {
    head: 'Silent',
    cell: (facts) => (
      <span>
        <Silences cellar={cellar} page={page} facts={facts} />
      </span>
    ),
  },
  { head: 'Came late', cell: (facts) => <Late facts={facts} /> },
]

const countWords = ({ count, pauseMs }: KegFacts): string =>
  pauseMs === null ? countText(count) : `${countText(count)}, about one in ${aboutText(pauseMs)}`

const Late = (props: { readonly facts: KegFacts }): JSX.Element => {
  const { count, maxMs } = props.facts.late
  if (count === 0) return <span class="quiet">none</span>
  return (
    <span safe>
      {`${countOf(count, 'reading', 'readings')}, up to ${aboutText(maxMs)} after ${count === 1 ? 'its' : 'their'} time`}
    </span>
  )
}

const rangeTitles: Readonly<Record<RangeName, string>> = {
  '1h': 'This hour',
  '24h': 'These 24 hours',
  '7d': 'These 7 days',
  '30d': 'These 30 days',
  '1y': 'This year',
}

const rangeTitle = ({ query, charts: [chart] }: KegPageView): string => {
  if (chart === undefined || (query.from === '' && query.to === '')) return rangeTitles[query.range]
  const [from, to] = [chart.fromMs, chart.toMs].map((at) => addressTime(at).slice(0, 16))
  return `${from} to ${to}`
}

/** With the decimals of the chart. */
const meanText = (page: KegPageView, { mean, rack, keg }: KegFacts): string => {
  const series = page.charts.flatMap((chart) => chart.series).filter((one) => one.rack === rack && one.keg === keg)
  return valueText(mean ?? 0, valueScale(series).decimals)
}

const Extreme = (props: {
  readonly extreme: ExtremeView
  readonly unit: string | null
  readonly page: KegPageView
}): JSX.Element => {
  const { stream, revision, value, timeMs } = props.extreme
  return (
    <a href={attribute(paths.event(stream, revision))}>
      <Value value={value} unit={props.unit} />
      <span safe>{` at ${shortTime(timeMs, props.page)}`}</span>
    </a>
  )
}

/** Without the day in a range of up to a day. */
const shortTime = (at: number, { charts }: KegPageView): string => {
  const [chart] = charts
  const clock = clockText(at).slice(0, 5)
  return chart !== undefined && chart.toMs - chart.fromMs <= 26 * 3_600_000 ? clock : `${dateText(at)} ${clock}`
}

const silencesMax = 3

/** Each link zooms to the silence and to what is around it. */
const Silences = (props: FactsProps): JSX.Element => {
  const { facts, page, cellar } = props
  if (facts.gaps.length === 0) return <span class="quiet">{facts.count === 0 ? '–' : 'never'}</span>
  const [main] = page.kegs
  const longest = facts.gaps.toSorted((a, b) => b.toMs - b.fromMs - (a.toMs - a.fromMs)).slice(0, silencesMax)
  const shown = longest.toSorted((a, b) => a.fromMs - b.fromMs)
  return (
    <>
      <span safe>{facts.gaps.length === 1 ? 'once, ' : `${countText(facts.gaps.length)} times, `}</span>
      {facts.gaps.length > silencesMax ? 'the longest: ' : ''}
      {shown.map(
        (gap, number): Children => (
          <>
            {number === 0 ? '' : ' · '}
            <a
              href={attribute(main === undefined ? '' : paths.keg(cellar, main.rack, main.keg, around(gap, page)))}
              safe
            >
              {gap.isOpen
                ? `since ${shortTime(gap.fromMs, page)}`
                : `${shortTime(gap.fromMs, page)} to ${shortTime(gap.toMs, page)}`}
            </a>
          </>
        ),
      )}
    </>
  )
}

const around = (gap: Gap, { query }: KegPageView) => {
  const lengthMs = gap.toMs - gap.fromMs
  const wider = widerBy(lengthMs, lengthMs)
  return { ...query, ...rangeFields(gap.fromMs - wider, gap.toMs + wider) }
}

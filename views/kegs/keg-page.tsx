import type { RuleAround } from '../../src/domain/attention/silence-rules.ts'
import type { PastView } from '../attention/attention-types.ts'
import { PastLines } from '../attention/past-lines.tsx'
import { StateNote } from '../cellars/readings-page.tsx'
import { SilenceOf } from '../cellars/silence-rule.tsx'
import { UnitOfKeg } from '../cellars/units.tsx'
import { Layout } from '../frame/layout.tsx'
import { Live } from '../parts/live.tsx'
import { attribute, Name } from '../parts/name.tsx'
import { Crumbs, NavLinks } from '../parts/nav-links.tsx'
import { Ago, Instant } from '../parts/time.tsx'
import { Value } from '../parts/value.tsx'
import { paths } from '../paths.ts'
import type { CellarView, Shell } from '../types.ts'
import { chartData } from './chart-data.ts'
import { ChartFigure, chartSince } from './chart-figure.tsx'
import { ChartTable } from './chart-table.tsx'
import { inTurn, type Turn } from './in-pieces.ts'
import { KegChoices } from './keg-choices.tsx'
import { KegFactsCards } from './keg-facts.tsx'
import type { KegPageView, LatestView, ShownKeg } from './keg-types.ts'

type KegPageProps = {
  readonly shell: Shell
  readonly cellar: CellarView
  readonly page: KegPageView
  readonly past: PastView
  readonly silence: readonly [RuleAround, ...RuleAround[]]
  readonly turn?: Turn | undefined
}

export const KegPage = (props: KegPageProps): JSX.Element => {
  const { shell, cellar, page } = props
  const [main] = page.kegs
  if (main === undefined) return ''
  const { query } = page
  const isAdmin = shell.operator?.role === 'admin'
  return (
    <Layout
      shell={shell}
      title={`${main.keg} · ${main.rack} · ${cellar.title}`}
      section="cellars"
      scripts={[shell.assets.uplot, shell.assets.chart]}
    >
      <Crumbs
        crumbs={[
          <a href={paths.cellars}>Cellars</a>,
          <a href={paths.cellar(cellar.cellar)}>
            <Name text={cellar.title} />
          </a>,
          <a href={attribute(paths.rack(cellar.cellar, main.rack))}>
            <Name text={main.rack} />
          </a>,
        ]}
      />
      <div class="heading">
        <h1>
          <Name text={main.keg} />
        </h1>
        {isLive(page) ? (
          <Live from={paths.liveKeg(cellar.cellar, main.rack, main.keg, query)} target="#keg-latest">
            <KegLatest page={page} nowMs={shell.nowMs} />
          </Live>
        ) : (
          <KegLatest page={page} nowMs={shell.nowMs} />
        )}
      </div>
      <KegChoices shell={shell} cellar={cellar.cellar} page={page} isLive={isLive(page)} />
      <Notes page={page} />
      {page.charts.length > 0 && page.kegs.length > 1 ? <Legend cellar={cellar.cellar} page={page} /> : null}
      {page.charts.map((chart, number) =>
        inTurn(props.turn, () => <ChartFigure chart={chart} page={page} number={number} />),
      )}
      <div class={page.kegs.length === 1 ? 'columns' : undefined}>
        {inTurn(props.turn, () => (
          <KegFactsCards cellar={cellar.cellar} page={page} />
        ))}
        {page.kegs.length === 1 ? (
          <div>
            <UnitOfKeg cellar={cellar.cellar} rack={main.rack} keg={main.keg} unit={main.unit} isAdmin={isAdmin} />
            <SilenceOf cellar={cellar.cellar} around={props.silence} isAdmin={isAdmin} />
          </div>
        ) : null}
      </div>
      {page.kegs.length === 1 ? (
        <PastLines
          cellar={cellar.cellar}
          scope={{ kind: 'silent', rack: main.rack, keg: main.keg }}
          view={props.past}
          nowMs={shell.nowMs}
        />
      ) : null}
      {query.table === 0 ? null : inTurn(props.turn, () => <ChartTable cellar={cellar.cellar} page={page} />)}
    </Layout>
  )
}

const isLive = ({ isOpen, query }: KegPageView): boolean => isOpen && !query.isPaused

/** Everything that changes on the page. The charts get only their newest points, which `assets/chart.js` adds. */
export const KegPush = (props: {
  readonly cellar: string
  readonly page: KegPageView
  readonly nowMs: number
}): JSX.Element => (
  <>
    <KegLatest page={props.page} nowMs={props.nowMs} isPush />
    <tag of="hx-partial" hx-target="#keg-facts" hx-swap="outerMorph">
      <KegFactsCards cellar={props.cellar} page={props.page} />
    </tag>
  </>
)

const KegLatest = (props: {
  readonly page: KegPageView
  readonly nowMs: number
  readonly isPush?: boolean
}): JSX.Element => {
  const { page } = props
  const [main] = page.kegs
  if (main === undefined) return ''
  return (
    <div id="keg-latest">
      {main.latest === null ? null : <LatestLine latest={main.latest} unit={main.unit} nowMs={props.nowMs} />}
      {main.latest === null && page.charts.length > 0 ? (
        <p>
          No value yet: the timestamps of all readings are more than 10 minutes in the future. Correct the clock of the
          device.
        </p>
      ) : null}
      {props.isPush === true
        ? page.charts.map((chart) => <span hidden data-newest={attribute(chartData(chart, chartSince(chart)))}></span>)
        : null}
      <StateNote state={page.state} />
    </div>
  )
}

const LatestLine = (props: {
  readonly latest: LatestView
  readonly unit: string | null
  readonly nowMs: number
}): JSX.Element => {
  const { latest, unit, nowMs } = props
  return (
    <p class="latest">
      <a href={attribute(paths.event(latest.place.stream, latest.place.revision))} class="latest-value">
        <Value value={latest.value} unit={unit} />
      </a>{' '}
      <span class="quiet">
        · <Ago at={latest.at} nowMs={nowMs} /> · from{' '}
      </span>
      <a href={paths.key(latest.keyId)}>
        <Name text={latest.keyLabel} />
      </a>
    </p>
  )
}

const Notes = (props: { readonly page: KegPageView }): JSX.Element => {
  const { keptFromMs, unknown } = props.page
  const fromMs = props.page.charts[0]?.fromMs ?? 0
  return (
    <>
      {keptFromMs === null || keptFromMs <= fromMs ? null : (
        <p class="index-note calm">
          This cellar keeps readings for a limited time. A reading whose own time is before <Instant at={keptFromMs} />{' '}
          is not drawn, even if it came later and is still in the log.
        </p>
      )}
      {unknown.length === 0 ? null : (
        <p class="index-note" role="status">
          This cellar has no readings of{' '}
          {unknown.map(({ rack, keg }, number) => (
            <>
              {number === 0 ? '' : ', '}
              <Name text={`${rack} / ${keg}`} />
            </>
          ))}
          .
        </p>
      )}
    </>
  )
}

const Legend = (props: { readonly cellar: string; readonly page: KegPageView }): JSX.Element => {
  const { query, kegs } = props.page
  const [main] = kegs
  if (main === undefined) return ''
  const without = (keg: ShownKeg) => query.with.filter(({ rack, keg: name }) => rack !== keg.rack || name !== keg.keg)
  const withScale = (isOwnScale: boolean): string =>
    paths.keg(props.cellar, main.rack, main.keg, { ...query, isOwnScale })
  return (
    <div class="chart-legend">
      <ul>
        {kegs.map((keg, number) => (
          <li>
            <svg class={`series-${number}`} width="28" height="12" aria-hidden="true">
              <path class="chart-line" d="M0 6H28" />
            </svg>{' '}
            <a href={attribute(paths.keg(props.cellar, keg.rack, keg.keg, { range: query.range }))}>
              <Name text={keg.rack} /> / <Name text={keg.keg} />
            </a>{' '}
            {keg.latest === null ? null : <Value value={keg.latest.value} unit={keg.unit} />}
            {number === 0 ? null : (
              <>
                {' '}
                <a
                  class="quiet"
                  href={attribute(paths.keg(props.cellar, main.rack, main.keg, { ...query, with: without(keg) }))}
                >
                  Remove
                  <Name class="visually-hidden" text={` ${keg.rack} / ${keg.keg}`} />
                </a>
              </>
            )}
          </li>
        ))}
      </ul>
      <NavLinks
        class="filters"
        label="Scale"
        links={[
          { href: withScale(false), words: 'One scale', isCurrent: !query.isOwnScale },
          { href: withScale(true), words: 'Each its own scale', isCurrent: query.isOwnScale },
        ]}
      />
    </div>
  )
}

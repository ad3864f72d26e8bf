import type { RuleAround } from '../../src/domain/attention/silence-rules.ts'
import type { PastView } from '../attention/attention-types.ts'
import { PastLines } from '../attention/past-lines.tsx'
import { StateNote } from '../cellars/readings-page.tsx'
import { SilenceOf } from '../cellars/silence-rule.tsx'
import { Layout } from '../frame/layout.tsx'
import { rackKeysMax } from '../log/log-types.ts'
import { LastRefusals } from '../log/refusals-of-key.tsx'
import { Live, LiveSwitch } from '../parts/live.tsx'
import { attribute, Name } from '../parts/name.tsx'
import { Crumbs } from '../parts/nav-links.tsx'
import { PageLinks } from '../parts/page-links.tsx'
import { countOf, countText } from '../parts/quantity.ts'
import { type Column, Table } from '../parts/table.tsx'
import { Ago, Instant } from '../parts/time.tsx'
import { clockText, dateText, isoText } from '../parts/time-words.ts'
import { Value } from '../parts/value.tsx'
import { paths } from '../paths.ts'
import type { CellarView, Shell } from '../types.ts'
import { ChartPicture } from './chart-picture.tsx'
import { inTurn, type Turn } from './in-pieces.ts'
import { RangeForm, RangeLinks } from './keg-choices.tsx'
import type { KegOfRack, RackKey, RackPageView } from './keg-types.ts'

type RackPageProps = {
  readonly shell: Shell
  readonly cellar: CellarView
  readonly page: RackPageView
  readonly past: PastView
  readonly silence: readonly [RuleAround, ...RuleAround[]]
  readonly turn?: Turn | undefined
}

const chartHeight = 84

export const RackPage = (props: RackPageProps): JSX.Element => {
  const { shell, cellar, page } = props
  const { rack, query } = page
  const isLive = page.isOpen && !query.isPaused
  return (
    <Layout shell={shell} title={`${rack} · ${cellar.title}`} section="cellars">
      <Crumbs
        crumbs={[
          <a href={paths.cellars}>Cellars</a>,
          <a href={paths.cellar(cellar.cellar)}>
            <Name text={cellar.title} />
          </a>,
        ]}
      />
      <div class="heading">
        <h1>
          <Name text={rack} />
        </h1>
        {isLive ? (
          <Live from={paths.liveRack(cellar.cellar, rack, query, page.page)} target="#rack-line">
            <RackLine page={page} nowMs={shell.nowMs} />
          </Live>
        ) : (
          <RackLine page={page} nowMs={shell.nowMs} />
        )}
      </div>
      <div class="chart-choices">
        <RangeLinks query={query} href={(range) => paths.rack(cellar.cellar, rack, { ...query, ...range })} />
        <RangeForm
          action={paths.rack(cellar.cellar, rack)}
          token={shell.csrf}
          query={query}
          faults={page.faults}
          fromMs={beginOf(page)}
        />
        <div class="chart-actions">
          {page.isOpen ? (
            <LiveSwitch
              isPaused={query.isPaused}
              href={paths.rack(cellar.cellar, rack, { ...query, isPaused: !query.isPaused }, page.page)}
            />
          ) : null}
          <a class="action" href={attribute(paths.log({ cellar: cellar.cellar, rack }))}>
            Everything about this rack in the Log
          </a>
        </div>
      </div>
      <RackReadings cellar={cellar.cellar} page={page} nowMs={shell.nowMs} turn={props.turn} />
      <PastLines cellar={cellar.cellar} scope={{ kind: 'silent', rack }} view={props.past} nowMs={shell.nowMs} />
      <SilenceOf cellar={cellar.cellar} around={props.silence} isAdmin={shell.operator?.role === 'admin'} />
    </Layout>
  )
}

const beginOf = ({ kegs }: RackPageView): number => kegs[0]?.chart?.fromMs ?? 0

type ReadingsProps = {
  readonly cellar: string
  readonly page: RackPageView
  readonly nowMs: number
  readonly turn: Turn
}

/** Everything that changes on the page. */
export const RackPush = (props: ReadingsProps): JSX.Element => (
  <>
    <RackLine page={props.page} nowMs={props.nowMs} />
    <tag of="hx-partial" hx-target="#rack-readings" hx-swap="outerMorph">
      <RackReadings {...props} />
    </tag>
  </>
)

const RackReadings = (props: ReadingsProps): JSX.Element => {
  const { cellar, page } = props
  return (
    <div id="rack-readings">
      <StateNote state={page.state} />
      {page.keptFromMs === null || page.keptFromMs <= beginOf(page) ? null : (
        <p class="index-note calm">
          This cellar keeps readings for a limited time. A reading whose own time is before{' '}
          <Instant at={page.keptFromMs} /> is not drawn.
        </p>
      )}
      {page.kegs.length === 0 ? null : <RackCharts {...props} />}
      <KeysOfRack keys={page.keys} />
      <LastRefusals
        keyId={null}
        rows={page.refusals}
        all={{
          href: paths.log({ cellar, rack: page.rack, kind: 'refusals' }),
          words: 'All refusals of the keys of this rack',
        }}
      />
    </div>
  )
}

const RackLine = (props: { readonly page: RackPageView; readonly nowMs: number }): JSX.Element => {
  const { summary } = props.page
  if (summary === null) return <p id="rack-line"></p>
  const { kegs, silent, acceptedMs } = summary
  return (
    <p id="rack-line">
      <span safe>{countOf(kegs, 'keg', 'kegs')}</span>
      {silent === 0 ? null : (
        <>
          {' · '}
          <strong class="silent" safe>
            {silent === kegs ? 'silent' : `${countText(silent)} silent`}
          </strong>
        </>
      )}
      <span class="quiet">
        {' · last reading '}
        <Ago at={acceptedMs} nowMs={props.nowMs} />
      </span>
    </p>
  )
}

const RackCharts = (props: ReadingsProps): JSX.Element => {
  const { cellar, page, nowMs } = props
  return (
    <section aria-labelledby="kegs-title">
      <h2 id="kegs-title">
        Kegs <small>each with its own scale, on one time axis in UTC</small>
      </h2>
      <ul class="rack-charts">
        {page.kegs.map((keg, number) =>
          inTurn(props.turn, () => <SmallChart cellar={cellar} page={page} keg={keg} number={number} nowMs={nowMs} />),
        )}
      </ul>
      <PageLinks
        page={page.page}
        pages={page.pages}
        hrefOf={(number) => paths.rack(cellar, page.rack, page.query, number)}
        words={{ before: 'Previous kegs', behind: 'Next kegs' }}
      />
    </section>
  )
}

const SmallChart = (props: {
  readonly cellar: string
  readonly page: RackPageView
  readonly keg: KegOfRack
  readonly number: number
  readonly nowMs: number
}): JSX.Element => {
  const { cellar, page, keg, number } = props
  return (
    <li class="card chart">
      <h3>
        <a href={attribute(paths.keg(cellar, page.rack, keg.keg, page.query))}>
          <Name text={keg.keg} />
        </a>
      </h3>
      <p>
        <strong>
          <Value value={keg.value} unit={keg.unit} />
        </strong>{' '}
        <span class="quiet">
          {'· '}
          <Ago at={keg.acceptedMs} nowMs={props.nowMs} />
        </span>{' '}
        {keg.isSilent ? <strong class="silent">silent</strong> : null}
      </p>
      {keg.chart === null ? null : <ChartPicture chart={keg.chart} id={`chart-${number + 1}`} height={chartHeight} />}
    </li>
  )
}

const KeysOfRack = (props: { readonly keys: RackPageView['keys'] }): JSX.Element =>
  props.keys === null ? (
    <p class="index-note">This node cannot say now which keys sent for this rack.</p>
  ) : props.keys.length === 0 ? (
    ''
  ) : (
    <section aria-labelledby="keys-title">
      <h2 id="keys-title">
        Keys that sent for this rack <small>{`at most ${rackKeysMax}, the last one first`}</small>
      </h2>
      <Table rows={props.keys} columns={keyColumns} />
    </section>
  )

/** Like `2026-03-01 10:14 UTC`. */
const Minute = (props: { readonly at: number }): JSX.Element => (
  <time datetime={isoText(props.at)}>
    <span safe>{dateText(props.at)}</span> <span safe>{`${clockText(props.at).slice(0, 5)} UTC`}</span>
  </time>
)

const keyColumns: readonly Column<RackKey>[] = [
  {
    head: 'Key',
    cell: ({ keyId, label }) => (
      <a class="row-name" href={paths.key(keyId)}>
        <Name text={label} />
      </a>
    ),
  },
  { head: 'Last reading', cell: ({ lastMs }) => <Minute at={lastMs} /> },
  {
    head: 'Its readings',
    isHeadHidden: true,
    cell: ({ keyId, label }) => (
      <a href={attribute(paths.log({ kind: 'readings', key: keyId }))}>
        Readings in the Log
        <Name class="visually-hidden" text={` of ${label}`} />
      </a>
    ),
  },
]

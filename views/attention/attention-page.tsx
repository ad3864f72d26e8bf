import { Layout } from '../frame/layout.tsx'
import { HealthSummary } from '../health/health-facts.tsx'
import type { HealthView } from '../health/health-types.ts'
import { EventSentence } from '../log/event-sentence.tsx'
import { KindMark } from '../log/kind-mark.tsx'
import { textOf } from '../log/sentence-parts.ts'
import { ActionLink } from '../parts/action-link.tsx'
import { ByWhom } from '../parts/by.tsx'
import { Live } from '../parts/live.tsx'
import { attribute, Name } from '../parts/name.tsx'
import { NavLinks, NavWords } from '../parts/nav-links.tsx'
import { countOf } from '../parts/quantity.ts'
import { actionsColumn, type Column, Table } from '../parts/table.tsx'
import { Ago, Day } from '../parts/time.tsx'
import { attentionFields, paths } from '../paths.ts'
import type { Shell } from '../types.ts'
import { capitalised, kindWords, lineStatement } from './attention-sentences.ts'
import { hintOf, markOf, stepOf } from './attention-steps.ts'
import type { AttentionRow, AttentionView } from './attention-types.ts'
import { hostOf, WebhookState } from './webhooks/webhook-state.tsx'
import type { WebhookView } from './webhooks/webhook-types.ts'

const refreshSeconds = 10

export const AttentionPage = (props: {
  readonly shell: Shell
  readonly attention: AttentionView
  readonly health: HealthView
  readonly webhooks: readonly WebhookView[]
}): JSX.Element => {
  const { shell, attention } = props
  return (
    <Layout shell={shell} title="Needs attention" section="attention" refreshSeconds={refreshSeconds}>
      <div class="heading">
        <h1>Needs attention</h1>
        <p class="lead">
          What somebody should look at, most urgent first. A line goes away by itself when its cause does.
        </p>
      </div>
      <Live from={paths.liveAttention(attention.query)} target="#attention">
        <AttentionLists {...props} nowMs={shell.nowMs} isAdmin={shell.operator?.role === 'admin'} />
      </Live>
      <p class="quiet">
        The <a href={attribute(paths.log({ type: 'AttentionChanged' }))}>log</a> says what needed attention before, for
        up to 30 days.
      </p>
    </Layout>
  )
}

type ListsProps = {
  readonly attention: AttentionView
  readonly health: HealthView
  readonly webhooks: readonly WebhookView[]
  readonly nowMs: number
  readonly isAdmin: boolean
}

/** A live message also renews the number in the navigation. */
export const AttentionPush = (props: ListsProps): JSX.Element => (
  <>
    <AttentionLists {...props} />
    <tag of="hx-partial" hx-target={`.masthead a[href="${paths.attention}"]`} hx-swap="innerHTML">
      <NavWords words="Attention" {...(props.attention.count > 0 && { count: props.attention.count })} />
    </tag>
  </>
)

const AttentionLists = (props: ListsProps): JSX.Element => {
  const { awake, resting, more, query } = props.attention
  const isAll = query.cellar === null && query.kind === null
  return (
    <div id="attention">
      <Filters {...props.attention} />
      {!isAll && awake.length + resting.length === 0 ? (
        <div class="empty small">
          <p>
            {more === 0 ? 'Nothing of this needs attention.' : 'Nothing of this is listed.'}{' '}
            <a href={paths.attention}>Show everything</a>
          </p>
        </div>
      ) : awake.length === 0 && more === 0 ? (
        <div class="empty small">
          <p>
            {resting.length === 0 ? 'Nothing needs attention.' : 'Nothing needs attention now, except what is at rest.'}
          </p>
          <p class="quiet">
            Silent racks, keys that expire, refused devices, old backups and full disks will be listed here.
          </p>
        </div>
      ) : (
        <Table class="attention-lines" hasRowHeadings={false} rows={awake} columns={awakeColumns(props)} />
      )}
      {more === 0 ? null : (
        <p class="list-note quiet" safe>
          {`${countOf(more, 'further line is', 'further lines are')} not listed yet${isAll ? '' : ', perhaps of other kinds or cellars'}.`}
        </p>
      )}
      {resting.length === 0 ? null : (
        <section aria-labelledby="at-rest">
          <h2 id="at-rest">At rest</h2>
          <Table class="attention-lines" hasRowHeadings={false} rows={resting} columns={restingColumns(props)} />
        </section>
      )}
      <div class="event-columns">
        <HealthSummary health={props.health} nowMs={props.nowMs} />
        <Elsewhere webhooks={props.webhooks} nowMs={props.nowMs} isAdmin={props.isAdmin} />
      </div>
    </div>
  )
}

const Elsewhere = (props: Pick<ListsProps, 'webhooks' | 'nowMs' | 'isAdmin'>): JSX.Element => {
  const { webhooks, nowMs, isAdmin } = props
  return (
    <section class="card" aria-labelledby="elsewhere">
      <h2 id="elsewhere">Tell me elsewhere</h2>
      <p>
        Webhooks post each of these to an address of yours.{' '}
        <a href={paths.webhooks}>{webhooks.length === 0 && isAdmin ? 'Set it up' : 'Webhooks'}</a>
      </p>
      <ul class="event-links">
        {webhooks.map((webhook) => (
          <li>
            <a href={paths.webhook(webhook.webhookId)}>
              <Name text={hostOf(webhook.url)} />
            </a>{' '}
            <WebhookState webhook={webhook} nowMs={nowMs} />
          </li>
        ))}
      </ul>
      <p class="quiet below-list">
        Prometheus can watch them, too: <code>deploy/prometheus/alerts.yaml</code> has rules.
      </p>
    </section>
  )
}

/** A chosen filter is removed by a second choice. */
const Filters = ({ query, kinds, cellars, moreCellars }: AttentionView): JSX.Element => {
  const ofKind = kinds.map(({ kind, count }) => {
    const isCurrent = query.kind === kind
    const href = paths.attentionOf({ ...query, kind: isCurrent ? null : kind })
    return { words: capitalised(kindWords[kind]), isCurrent, href, count }
  })
  const ofCellar = cellars.map(({ cellar, title, count }) => {
    const isCurrent = query.cellar === cellar
    const href = paths.attentionOf({ ...query, cellar: isCurrent ? null : cellar })
    return { words: title, isTyped: true, isCurrent, href, count }
  })
  return (
    <>
      {ofKind.length < 2 && query.kind === null ? null : (
        <NavLinks class="filters chips" label="Lines by kind" links={ofKind} />
      )}
      {ofCellar.length < 2 && query.cellar === null ? null : (
        <NavLinks class="filters chips" label="Lines by cellar" links={ofCellar} />
      )}
      {moreCellars === 0 ? null : (
        <p class="quiet" safe>
          {`and ${countOf(moreCellars, 'more cellar', 'more cellars')}`}
        </p>
      )}
    </>
  )
}

const awakeColumns = ({ nowMs, isAdmin }: ListsProps): readonly Column<AttentionRow>[] => [
  { head: 'When', cell: ({ line }) => <Ago at={line.dueMs ?? line.sinceMs} nowMs={nowMs} /> },
  whatColumn,
  whereColumn,
  actionsColumn((row) => (
    <ul class="action-list">
      <NextStep row={row} isAdmin={isAdmin} />
      <HistoryLink row={row} />
      {isAdmin ? <RestLink row={row} verb="Put to rest" /> : null}
    </ul>
  )),
]

const restingColumns = ({ isAdmin }: ListsProps): readonly Column<AttentionRow>[] => [
  whatColumn,
  whereColumn,
  {
    head: 'At rest',
    cell: ({ rest }) =>
      rest === null ? (
        ''
      ) : (
        <>
          until <Day at={rest.untilMs} />{' '}
          <small class="under quiet">
            by <ByWhom by={rest.by} />
          </small>
        </>
      ),
  },
  actionsColumn((row) => (
    <ul class="action-list">
      <HistoryLink row={row} />
      {isAdmin ? <RestLink row={row} verb="Change rest" /> : null}
    </ul>
  )),
]

const whatColumn: Column<AttentionRow> = {
  head: 'What',
  isUnlabelled: true,
  cell: (row) => (
    <div class="attention-what">
      <KindMark kind={markOf(row.line.kind)} />
      <div>
        <EventSentence sentence={lineStatement(row)} />
        <Hint row={row} />
      </div>
    </div>
  ),
}

const Hint = ({ row }: { readonly row: AttentionRow }): JSX.Element => {
  const hint = hintOf(row.line)
  return hint === null ? (
    ''
  ) : (
    <small class="under" safe>
      {hint}
    </small>
  )
}

const whereColumn: Column<AttentionRow> = {
  head: 'Where',
  cell: ({ cellar, cellarTitle, line }) =>
    cellar === null ? (
      <span>
        node <Name text={line.node ?? ''} />
      </span>
    ) : (
      <a href={attribute(paths.cellar(cellar))}>
        <Name text={cellarTitle} />
      </a>
    ),
}

const NextStep = (props: { readonly row: AttentionRow; readonly isAdmin: boolean }): JSX.Element => {
  const { href, verb } = stepOf(props.row, props.isAdmin)
  return (
    <li>
      <a class="action" href={attribute(href)}>
        <span safe>{verb}</span>
        <Name class="visually-hidden" text={`: ${textOf(lineStatement(props.row))}`} />
      </a>
    </li>
  )
}

const HistoryLink = ({ row }: { readonly row: AttentionRow }): JSX.Element => (
  <li>
    <a class="action" href={attribute(paths.attentionPast(attentionFields(row)))}>
      History
      <Name class="visually-hidden" text={`: ${textOf(lineStatement(row))}`} />
    </a>
  </li>
)

const RestLink = (props: { readonly row: AttentionRow; readonly verb: string }): JSX.Element => (
  <ActionLink
    href={attribute(paths.restAttention(attentionFields(props.row)))}
    verb={props.verb}
    of={`: ${textOf(lineStatement(props.row))}`}
  />
)

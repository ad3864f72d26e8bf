import type { LineScope } from '../../src/domain/attention/attention-lines.ts'
import type { PastLine } from '../../src/domain/attention/history.ts'
import { Layout } from '../frame/layout.tsx'
import { EventSentence } from '../log/event-sentence.tsx'
import { attribute } from '../parts/name.tsx'
import { Crumbs } from '../parts/nav-links.tsx'
import { aboutText, countOf } from '../parts/quantity.ts'
import { type Column, Table } from '../parts/table.tsx'
import { Day, Instant } from '../parts/time.tsx'
import { attentionFields, paths } from '../paths.ts'
import type { Shell } from '../types.ts'
import { scopeSentence } from './attention-sentences.ts'
import type { PastPageView, PastView } from './attention-types.ts'

type PastProps = { readonly scope: LineScope; readonly view: PastView; readonly nowMs: number }

const titleOf = ({ kind }: LineScope): string =>
  kind === 'silent' ? 'When was it silent?' : 'When did this need attention?'

export const PastPage = (props: { readonly shell: Shell; readonly page: PastPageView }): JSX.Element => {
  const { shell, page } = props
  return (
    <Layout shell={shell} title={titleOf(page.scope)} section="attention">
      <Crumbs crumbs={[<a href={paths.attention}>Needs attention</a>]} />
      <div class="heading">
        <h1 safe>{titleOf(page.scope)}</h1>
        <p class="lead">
          <EventSentence sentence={scopeSentence(page)} />
        </p>
      </div>
      <PastTable scope={page.scope} view={page.past} nowMs={shell.nowMs} />
    </Layout>
  )
}

/** On the page of a keg or rack. */
export const PastLines = (props: PastProps & { readonly cellar: string }): JSX.Element => (
  <section aria-labelledby="past-title">
    <h2 id="past-title">
      <span safe>{titleOf(props.scope)}</span> <small>in the 7 days before this page was loaded</small>
    </h2>
    <PastTable {...props} />
    <p class="list-note">
      <a href={attribute(paths.attentionPast(attentionFields({ cellar: props.cellar, line: props.scope })))}>
        Show 30 days
      </a>
    </p>
  </section>
)

const shownMax = 100

const PastTable = (props: PastProps): JSX.Element => {
  const { view } = props
  if (view === null) return <p class="index-note">This node cannot read the records of it now. Try again soon.</p>
  const note = (
    <>
      {view.isCut ? 'There are too many records to show all. This goes back to ' : 'This goes back to '}
      <Day at={view.sinceMs} />. Records are kept for at most 30 days, and never longer than the readings.
    </>
  )
  return view.past.length === 0 ? (
    <div class="empty small">
      <p>{props.scope.kind === 'silent' ? 'No silence was recorded.' : 'Nothing was recorded.'}</p>
      <p class="quiet">{note}</p>
    </div>
  ) : (
    <>
      <Table class="past-lines" hasRowHeadings={false} rows={view.past.slice(0, shownMax)} columns={columns(props)} />
      <p class="list-note quiet">
        {view.past.length > shownMax ? (
          <span safe>{`${countOf(view.past.length - shownMax, 'older line is', 'older lines are')} not shown. `}</span>
        ) : null}
        {note}
      </p>
    </>
  )
}

const columns = ({ scope, nowMs }: PastProps): readonly Column<PastLine>[] => [
  {
    head: scope.kind === 'silent' ? 'Last reading before' : 'Since',
    cell: ({ line, beganMs }) => (
      <>
        {beganMs === null && wholeOf(line, scope) !== '' ? 'at least since ' : null}
        <Instant at={line.sinceMs} />
        <small class="under" safe>
          {wholeOf(line, scope)}
        </small>
      </>
    ),
  },
  {
    head: 'Noticed',
    cell: ({ beganMs }) => (beganMs === null ? <span class="quiet">before</span> : <Instant at={beganMs} />),
  },
  {
    head: 'Until',
    cell: ({ line, endedMs }) => (
      <>
        {endedMs !== null ? (
          <Instant at={endedMs} />
        ) : (
          <strong class="silent">{scope.kind === 'silent' ? 'still silent' : 'still needs attention'}</strong>
        )}
        {line.isGone === true ? <small class="under">its readings were deleted</small> : null}
      </>
    ),
  },
  {
    head: 'How long',
    cell: ({ line, endedMs }) => <span safe>{aboutText((endedMs ?? nowMs) - line.sinceMs) ?? ''}</span>,
  },
]

const wholeOf = ({ rack, keg }: LineScope, scope: LineScope): string => {
  if (rack === undefined && scope.rack !== undefined) return 'with the whole cellar'
  return keg === undefined && scope.keg !== undefined ? 'with the whole rack' : ''
}

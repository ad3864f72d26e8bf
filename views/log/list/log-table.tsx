import { escapeHtml } from '@kitajs/html'
import { ByWhom } from '../../parts/by.tsx'
import { attribute, Name } from '../../parts/name.tsx'
import { countOf } from '../../parts/quantity.ts'
import { type Column, Table } from '../../parts/table.tsx'
import { clockText, dateText, dayMs, exactClockText, exactText, isoText } from '../../parts/time-words.ts'
import { paths } from '../../paths.ts'
import { EventSentence } from '../event-sentence.tsx'
import { KindMark } from '../kind-mark.tsx'
import type { ByView, EventRow, InstantRow, LogRow, MinuteRow, StretchRow } from '../log-types.ts'

export const LogTable = (props: { readonly rows: readonly LogRow[]; readonly nowMs: number }): JSX.Element => (
  <Table
    class="log"
    hasRowHeadings={false}
    sections={byDay(props.rows).map(({ at, rows }) => ({
      id: `day-${dateText(at)}`,
      class: 'day',
      heading: () => escapeHtml(dayText(at, props.nowMs)),
      rows,
    }))}
    frameOf={frameOf}
    columns={columns}
  />
)

type Day = { readonly at: number; readonly rows: LogRow[] }

const byDay = (rows: readonly LogRow[]): readonly Day[] => {
  const days: Day[] = []
  for (const row of rows) {
    const last = days.at(-1)
    if (last !== undefined && dateText(last.at) === dateText(row.at)) last.rows.push(row)
    else days.push({ at: row.at, rows: [row] })
  }
  return days
}

const dayText = (at: number, nowMs: number): string => {
  const date = dateText(at)
  if (date === dateText(nowMs)) return `Today, ${date}`
  return date === dateText(nowMs - dayMs) ? `Yesterday, ${date}` : date
}

type ReadingsRow = MinuteRow | StretchRow

const frameOf = (row: LogRow) => {
  switch (row.row) {
    case 'event':
      return { id: attribute(row.revision === null ? `unwritten-${row.stream}` : `event-${row.position}`) }
    case 'instant':
      return { id: 'at', class: 'instant-row', whole: () => <Instant row={row} /> }
    default:
      return {
        id: attribute(`${row.row}-${row.at / 60_000}-${encodeURIComponent(row.cellar?.id ?? '')}`),
        class: 'minute-row',
      }
  }
}

/** Links to an instant lead here. */
const Instant = ({ row }: { readonly row: InstantRow }): JSX.Element => (
  <>
    <span class="visually-hidden">Here is </span>
    <time datetime={isoText(row.at)} safe>
      {exactClockText(row.at)}
    </time>{' '}
    <span class="quiet">↑ later, earlier ↓</span>
  </>
)

const columns: readonly Column<LogRow>[] = [
  {
    head: 'Time',
    class: 'log-time',
    cell: (row) => (
      <time datetime={isoText(row.at)} title={exactText(row.at)} safe>
        {row.row === 'event' ? exactClockText(row.at).replace(' UTC', '') : minuteText(row.at)}
      </time>
    ),
  },
  {
    head: 'What happened',
    class: 'log-words',
    isUnlabelled: true,
    cell: (row) =>
      row.row === 'instant' ? '' : row.row === 'event' ? <EventWords row={row} /> : <ReadingsWords row={row} />,
  },
  {
    head: 'By',
    isEmpty: ({ row }) => row !== 'event',
    cell: (row) => (row.row === 'event' ? <ByLink by={row.by} /> : <span class="quiet">devices</span>),
  },
  {
    head: 'In the log',
    class: 'place',
    cell: (row) =>
      row.row === 'instant' ? '' : row.row === 'event' ? <EventPlace row={row} /> : <ReadingsLink row={row} />,
  },
]

const EventWords = ({ row }: { readonly row: EventRow }): JSX.Element => (
  <>
    <KindMark kind={row.kind} />
    <span class="log-sentence">
      <EventSentence sentence={row.sentence} />
      {row.period === null ? null : <span class="quiet" safe>{` ${periodText(row.period)}`}</span>}
      {row.whyHref === null ? null : (
        <>
          {' '}
          <a href={attribute(row.whyHref)}>
            Why?<span class="visually-hidden" safe>{` The refusals of ${exactText(row.at)}`}</span>
          </a>
        </>
      )}
    </span>
  </>
)

const EventPlace = ({ row: { stream, revision } }: { readonly row: EventRow }): JSX.Element =>
  revision === null ? (
    <span class="quiet">not yet</span>
  ) : (
    <a href={attribute(paths.event(stream, revision))}>
      <code title={attribute(`${stream}@${revision}`)}>
        <span class="stream" safe>
          {stream}
        </span>
        <span safe>{`@${revision}`}</span>
      </code>
    </a>
  )

const ReadingsWords = ({ row }: { readonly row: ReadingsRow }): JSX.Element => (
  <>
    <KindMark kind="readings" />
    <span class="log-sentence">
      <strong safe>{manyText(row)}</strong> accepted <span safe>{timeWords(row)}</span>
      {row.cellar === null ? (
        <span>{row.row === 'minute' ? 'in all cellars.' : 'in several cellars.'}</span>
      ) : (
        <>
          in{' '}
          <a href={attribute(paths.cellar(row.cellar.id))}>
            <Name text={row.cellar.title} />
          </a>
          .
        </>
      )}
    </span>
  </>
)

const ReadingsLink = ({ row }: { readonly row: ReadingsRow }): JSX.Element =>
  row.href === null ? (
    ''
  ) : (
    <a href={attribute(row.href)}>
      Show them<span class="visually-hidden" safe>{`: ${manyText(row)} of ${exactText(row.at)}`}</span>
    </a>
  )

const manyText = ({ count }: ReadingsRow): string => countOf(count, 'reading', 'readings')

/** A summary is written later than what it counts. */
const periodText = ({ firstAt, lastAt }: NonNullable<EventRow['period']>): string =>
  firstAt === lastAt
    ? `At ${exactClockText(firstAt)}.`
    : `From ${exactClockText(firstAt)} to ${exactClockText(lastAt)}.`

/** The time column already says a single minute. */
const timeWords = (row: ReadingsRow): string =>
  row.row === 'minute' || row.at === row.lastMinute
    ? ''
    : `from ${minuteText(row.at)} to ${minuteText(row.lastMinute)} `

const minuteText = (at: number): string => clockText(at).slice(0, 5)

export const ByLink = (props: { readonly by: ByView }): JSX.Element => {
  const { by } = props
  if (by.kind === 'key') {
    return (
      <a href={attribute(by.href)}>
        <Name text={by.label} />
      </a>
    )
  }
  return (
    <a class="plain-link" href={attribute(by.href)}>
      <ByWhom by={by.by} />
    </a>
  )
}

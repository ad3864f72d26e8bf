import { ByWhom } from '../../parts/by.tsx'
import { attribute, Name } from '../../parts/name.tsx'
import { countOf } from '../../parts/quantity.ts'
import { clockText, dateText, dayMs, exactClockText, exactText, isoText } from '../../parts/time-words.ts'
import { paths } from '../../paths.ts'
import { EventSentence } from '../event-sentence.tsx'
import { KindMark } from '../kind-mark.tsx'
import type { ByView, EventRow, InstantRow, LogRow, MinuteRow, StretchRow } from '../log-types.ts'

export const LogTable = (props: { readonly rows: readonly LogRow[]; readonly nowMs: number }): JSX.Element => (
  <div class="table-room">
    <table class="stack log">
      <thead>
        <tr>
          <th scope="col">Time</th>
          <th scope="col">What happened</th>
          <th scope="col">By</th>
          <th scope="col">In the log</th>
        </tr>
      </thead>
      {byDay(props.rows).map((day) => (
        <tbody>
          <tr class="day" id={`day-${dateText(day.at)}`}>
            <th colspan="4" scope="rowgroup" safe>
              {dayText(day.at, props.nowMs)}
            </th>
          </tr>
          {day.rows.map((row) => (
            <Line row={row} />
          ))}
        </tbody>
      ))}
    </table>
  </div>
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

const Line = ({ row }: { readonly row: LogRow }): JSX.Element => {
  switch (row.row) {
    case 'event':
      return <EventLine row={row} />
    case 'instant':
      return <InstantLine row={row} />
    default:
      return <ReadingsLine row={row} />
  }
}

/** Links to an instant lead here. */
const InstantLine = ({ row }: { readonly row: InstantRow }): JSX.Element => (
  <tr id="at" class="instant-row">
    <td colspan="4">
      <span class="visually-hidden">Here is </span>
      <time datetime={isoText(row.at)} safe>
        {exactClockText(row.at)}
      </time>{' '}
      <span class="quiet">↑ later, earlier ↓</span>
    </td>
  </tr>
)

const EventLine = (props: { readonly row: EventRow }): JSX.Element => {
  const { row } = props
  const { stream, revision } = row
  return (
    <tr id={attribute(revision === null ? `unwritten-${stream}` : `event-${row.position}`)}>
      <td data-label="Time" class="log-time">
        <time datetime={isoText(row.at)} title={exactText(row.at)} safe>
          {exactClockText(row.at).replace(' UTC', '')}
        </time>
      </td>
      <td class="log-words">
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
      </td>
      <td data-label="By">
        <ByLink by={row.by} />
      </td>
      <td data-label="In the log" class="place">
        {revision === null ? (
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
        )}
      </td>
    </tr>
  )
}

const ReadingsLine = (props: { readonly row: MinuteRow | StretchRow }): JSX.Element => {
  const { row } = props
  const { cellar } = row
  const many = countOf(row.count, 'reading', 'readings')
  return (
    <tr id={attribute(`${row.row}-${row.at / 60_000}-${encodeURIComponent(cellar?.id ?? '')}`)} class="minute-row">
      <td data-label="Time" class="log-time">
        <time datetime={isoText(row.at)} title={exactText(row.at)} safe>
          {minuteText(row.at)}
        </time>
      </td>
      <td class="log-words">
        <KindMark kind="readings" />
        <span class="log-sentence">
          <strong safe>{many}</strong> accepted <span safe>{timeWords(row)}</span>
          {cellar === null ? (
            <span>{row.row === 'minute' ? 'in all cellars.' : 'in several cellars.'}</span>
          ) : (
            <>
              in{' '}
              <a href={attribute(paths.cellar(cellar.id))}>
                <Name text={cellar.title} />
              </a>
              .
            </>
          )}
        </span>
      </td>
      <td data-label="By" class="nothing">
        <span class="quiet">devices</span>
      </td>
      <td data-label="In the log" class="place">
        {row.href === null ? null : (
          <a href={attribute(row.href)}>
            Show them<span class="visually-hidden" safe>{`: ${many} of ${exactText(row.at)}`}</span>
          </a>
        )}
      </td>
    </tr>
  )
}

/** A summary is written later than what it counts. */
const periodText = ({ firstAt, lastAt }: NonNullable<EventRow['period']>): string =>
  firstAt === lastAt
    ? `At ${exactClockText(firstAt)}.`
    : `From ${exactClockText(firstAt)} to ${exactClockText(lastAt)}.`

/** The time column already says a single minute. */
const timeWords = (row: MinuteRow | StretchRow): string =>
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

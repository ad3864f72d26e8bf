import type { EventRow, LogListView, LogQuery, LogRow, SearchEnd } from '../../../../views/log/log-types.ts'
import { sentenceOf } from '../../../../views/log/sentence.ts'
import { paths } from '../../../../views/paths.ts'
import type { Ask, Core } from '../../../actors/core.ts'
import { statesBefore } from '../../../actors/search/event-context.ts'
import { type Listed, type ListParts, listEvents, wantsReadings } from '../../../actors/search/list-events.ts'
import { readsOfPage } from '../../../actors/search/patient-reads.ts'
import { type EventType, eventData, type RecordedEvent } from '../../../domain/events.ts'
import { type EventKind, kindOf } from '../../../domain/search/event-filter.ts'
import { type StateBefore, unknownBefore } from '../../../domain/search/state-before.ts'
import {
  cellarsSuggestedMax,
  logComparedMs,
  logEventsPerPageMax,
  logReadPageEvents,
  logSearchMs,
  minuteRowsPerPageMax,
  minuteRowsShownMax,
} from '../../../limits.ts'
import type { PlaceFilter } from '../../../log/ask-index.ts'
import { exportOfList } from '../exports/export-of-list.ts'
import { namesAt } from '../show/event-names.ts'
import type { Pause } from '../show/pauses.ts'
import { barsOf } from './bars.ts'
import { byView } from './by-view.ts'
import { foldMinutes } from './fold-minutes.ts'
import { ifUsable } from './if-usable.ts'
import { type CountedMinutes, minuteRows, showsMinutes } from './minute-rows.ts'
import { type JudgedQuery, judgeQuery } from './read-log-query.ts'

export type LogListParts = {
  readonly core: Core
  readonly nowMs: number
  readonly pause: Pause
  /** Ms on a clock that is never set back. */
  readonly passedMs: () => number
}

/** Makes the list for an address of the Log page. @throws Outage, UndecodableEvent */
export const logListOf = async (parts: LogListParts, query: LogQuery): Promise<LogListView> => {
  const { core, nowMs } = parts
  const { cellars, keys } = core.projections
  const known = {
    nowMs,
    isCellar: (name: string) => cellars.get(name) !== null,
    isKey: (id: string) => keys.get(id) !== null,
  }
  const judged = judgeQuery(query, known)
  const isJudged = Object.keys(judged.faults).length === 0
  const listed = isJudged ? await rowsOf(parts, query, judged.filter) : nothing
  return {
    query,
    faults: judged.faults,
    rows: listed.rows,
    end: listed.end,
    bars: listed.bars,
    ...hrefsOf(query, listed),
    index: indexView(core, listed.isIndexed),
    about: aboutOf(core, judged),
    cellars: suggestedCellars(core),
    types: typesOfKind(query.kind),
    exported: isJudged ? exportOfList(judged.filter) : null,
  }
}

type Rows = {
  readonly rows: readonly LogRow[]
  readonly end: SearchEnd
  readonly bars: LogListView['bars']
  readonly isIndexed: boolean
}

const nothing: Rows = { rows: [], end: { kind: 'complete' }, bars: null, isIndexed: true }

/** If the index turns out to be damaged, the log itself is searched. */
const rowsOf = async (parts: LogListParts, query: LogQuery, filter: PlaceFilter): Promise<Rows> => {
  const indexed = await ifUsable<Rows | null>(parts.core.ask, null, async (ask) => {
    const rows = await mergedRows(parts, { query, filter, ask })
    const counted = counting(ask)
    const bars = counted === null ? null : await barsOf(counted, { query, filter }, parts.nowMs)
    return { ...rows, bars, isIndexed: true }
  })
  if (indexed !== null) return indexed
  return { ...(await mergedRows(parts, { query, filter, ask: null })), bars: null, isIndexed: false }
}

type Wanted = { readonly query: LogQuery; readonly filter: PlaceFilter; readonly ask: Ask | null }

const mergedRows = async (parts: LogListParts, { query, filter, ask }: Wanted) => {
  const { core, nowMs, pause } = parts
  const isBackwards = query.after === null
  const page = {
    direction: isBackwards ? ('backwards' as const) : ('forwards' as const),
    from: query.before ?? query.after,
    limit: logEventsPerPageMax,
  }
  const isOnlyMinutes = !wantsReadings(filter) && (filter.kind === 'readings' || filter.type === 'ReadingAccepted')
  const found: Listed = isOnlyMinutes
    ? { events: [], end: { kind: 'complete' } }
    : await listEvents(listPartsOf(parts, ask), filter, page)
  const events = await eventRows(parts, found.events)
  const counted = counting(ask)
  const limit = isOnlyMinutes ? minuteRowsShownMax : minuteRowsPerPageMax
  const minutePage = { ...page, to: reachedTo(found), limit }
  const minutes =
    counted !== null && showsMinutes(filter)
      ? await minuteRows({ core, ask: counted, nowMs, pause }, filter, minutePage)
      : noMinutes
  const lastCounted = minutes.isFull ? minutes.rows.at(-1)?.position : undefined
  const isReached = ({ position }: LogRow): boolean =>
    lastCounted === undefined || (isBackwards ? position >= lastCounted : position <= lastCounted)
  const merged = [...events.filter(isReached), ...minutes.rows].sort(inDirection(isBackwards))
  const shown = isOnlyMinutes ? merged : foldMinutes(merged)
  return { rows: isBackwards ? shown : shown.toReversed(), end: minutes.isFull ? pageFull : found.end }
}

const noMinutes: CountedMinutes = { rows: [], isFull: false }

const pageFull: SearchEnd = { kind: 'page_full' }

/** The position that the search for events has reached; `null`: the end of the log. Rows of minutes behind it come later. */
const reachedTo = ({ events, end }: Listed): number | null => {
  if (end.kind === 'time_over') return end.position
  return end.kind === 'page_full' ? (events.at(-1)?.position ?? null) : null
}

/** At one position, the event is newer than the rows of its minute, and these are in the order of their cellars. */
const inDirection = (isBackwards: boolean) => {
  const rank = ({ row }: LogRow): number => (row === 'event' ? 1 : 0)
  const cellarOf = (row: LogRow): string => (row.row === 'minute' ? (row.cellar?.id ?? '') : '')
  return (a: LogRow, b: LogRow): number => {
    const order = a.position - b.position || rank(a) - rank(b) || (cellarOf(a) < cellarOf(b) ? 1 : -1)
    return isBackwards ? -order : order
  }
}

export const listPartsOf = ({ core, pause, passedMs }: LogListParts, ask: Ask | null): ListParts => {
  const beganMs = passedMs()
  return {
    log: readsOfPage(core.log),
    ask,
    cellarOfKey: (keyId) => core.projections.keys.get(keyId)?.cellar ?? null,
    pause,
    isOver: () => passedMs() - beganMs >= logSearchMs,
  }
}

/** Only sentences about these events say what was before. */
const comparesStates: ReadonlySet<EventType> = new Set([
  'KeyRelabelled',
  'KeyLimitChanged',
  'KeyExpirySet',
  'CellarRenamed',
  'CellarPolicyChanged',
  'OperatorRoleChanged',
  'ReadingsRefused',
] as const)

/** If the time is over, the other rows say only the new value. So does a row after a longer history than one page of events. */
const eventRows = async ({ core, passedMs }: LogListParts, events: readonly RecordedEvent[]) => {
  const beganMs = passedMs()
  const compared = events.filter(
    ({ type, revision }) => comparesStates.has(type) && (type === 'ReadingsRefused' || revision < logReadPageEvents),
  )
  const states = await statesBefore(core.log, compared, () => passedMs() - beganMs >= logComparedMs)
  const known = new Map(compared.map((event, index) => [event, states[index]]))
  return events.map((event) => eventRow(core, event, known.get(event) ?? unknownBefore))
}

export const eventRow = (core: Core, event: RecordedEvent, before: StateBefore): EventRow => ({
  row: 'event',
  position: event.position,
  at: event.recordedAt,
  kind: kindOf(event),
  stream: event.stream,
  revision: event.revision,
  sentence: sentenceOf(event, before, namesAt(core, event.position)),
  by: byView(core, event),
  whyHref: whyHrefOf(event),
})

const whyHrefOf = (event: RecordedEvent): string | null => {
  if (event.type !== 'ReadingsRefused') return null
  const [sample] = event.data.samples
  return sample === undefined ? paths.event(event.stream, event.revision) : paths.refusedRequest(sample.requestId)
}

const hrefsOf = (query: LogQuery, { rows, end }: Rows) => {
  const [first, oldest] = [rows[0], rows.at(-1)?.position]
  const newest = first?.row === 'stretch' ? first.newestPosition : first?.position
  const isNewest = query.before === null && query.after === null && query.at === ''
  const turned = { ...query, at: '', before: null, after: null }
  const goneOn = end.kind === 'time_over' ? end.position : undefined
  const newerEnd = query.after === null ? newest : (goneOn ?? newest)
  const olderEnd = query.after === null ? (goneOn ?? oldest) : oldest
  const isLast = query.after === null && end.kind === 'complete'
  const isNewestReached = isNewest || (query.after !== null && end.kind === 'complete')
  return {
    newerHref: isNewestReached
      ? null
      : newerEnd === undefined
        ? paths.log(turned)
        : paths.log({ ...turned, after: newerEnd }),
    olderHref: isLast || olderEnd === undefined ? null : paths.log({ ...turned, before: olderEnd }),
  }
}

/** The counts of an index that is behind or in trouble are not complete. */
const counting = (ask: Ask | null): Ask | null => {
  const progress = ask?.progress()
  return progress === undefined || progress.isBehind || progress.trouble !== null ? null : ask
}

const indexView = ({ ask, projections }: Core, isIndexed: boolean): LogListView['index'] => {
  const progress = ask?.progress()
  if (progress === undefined || !isIndexed) return { kind: 'none', why: null }
  if (progress.trouble !== null) return { kind: 'none', why: progress.trouble }
  if (!progress.isBehind) return { kind: 'current' }
  return { kind: 'behind', read: progress.position ?? 0, of: projections.position ?? 0 }
}

const aboutOf = (core: Core, { filter }: JudgedQuery): LogListView['about'] => {
  const { keys, cellars } = core.projections
  const key = filter.key === null ? null : keys.get(filter.key)
  if (key !== null) return { words: 'Page of the key', name: key.label, href: paths.key(key.keyId) }
  const cellar = filter.cellar === null ? null : cellars.get(filter.cellar)
  return cellar === null ? null : { words: 'Page of the cellar', name: cellar.title, href: paths.cellar(cellar.cellar) }
}

const suggestedCellars = ({ projections }: Core): LogListView['cellars'] => {
  const all = projections.cellars.list()
  return all.length > cellarsSuggestedMax ? [] : all.map(({ cellar, title }) => ({ id: cellar, title }))
}

const eventTypes = Object.keys(eventData) as readonly EventType[]

/** Events of the type `RecordUnreadable` are never stored. */
const typesOfKind = (_kind: EventKind | null): readonly EventType[] =>
  eventTypes.filter((type) => type !== 'RecordUnreadable' && type !== 'RevisionVacant').toSorted()

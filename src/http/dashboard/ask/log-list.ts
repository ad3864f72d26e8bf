import type { EventRow, LogListView, LogQuery, LogRow, SearchEnd } from '../../../../views/log/log-types.ts'
import { sentenceOf } from '../../../../views/log/sentence.ts'
import { paths } from '../../../../views/paths.ts'
import type { Core } from '../../../actors/core.ts'
import type { Ask } from '../../../actors/search/ask-db.ts'
import { statesBefore } from '../../../actors/search/event-context.ts'
import { type Listed, type ListPage, wantsReadings } from '../../../actors/search/list-events.ts'
import { readsOfPage } from '../../../actors/search/patient-reads.ts'
import { hourMs } from '../../../domain/calendar.ts'
import type { EventType, RecordedEvent } from '../../../domain/events.ts'
import { kindOf, periodOf } from '../../../domain/search/event-filter.ts'
import { type StateBefore, unknownBefore } from '../../../domain/search/state-before.ts'
import { eventTypes } from '../../../domain/search/types-of-kind.ts'
import {
  cellarsSuggestedMax,
  logComparedMs,
  logEventsPerPageMax,
  logReadPageEvents,
  minuteRowsPerPageMax,
  minuteRowsShownMax,
} from '../../../limits.ts'
import { exportOfList } from '../exports/export-of-list.ts'
import { namesAt } from '../show/event-names.ts'
import type { Pause } from '../show/pauses.ts'
import { findList, findSince } from './asked-searches.ts'
import { barsOf } from './bars.ts'
import { byView } from './by-view.ts'
import { foldMinutes } from './fold-minutes.ts'
import { ifUsable } from './if-usable.ts'
import { type MinuteRows, minuteRows, showsMinutes } from './minute-rows.ts'
import { type JudgedQuery, judgeQuery } from './read-log-query.ts'
import { isWritten, unwrittenRefusals } from './unwritten-refusals.ts'

export type LogListParts = {
  readonly core: Core
  readonly nowMs: number
  readonly pause: Pause
  /** Ms on a clock that is never set back. */
  readonly passedMs: () => number
  /** The e-mail of the operator. */
  readonly owner: string
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
  const listed = isJudged ? await rowsOf(parts, query, judged) : nothing
  return {
    query,
    faults: judged.faults,
    rows: listed.rows,
    end: query.after === null ? listed.older : listed.newer,
    bars: listed.bars,
    ...hrefsOf(query, listed),
    index: indexView(core, listed.isIndexed),
    about: aboutOf(core, judged),
    cellars: suggestedCellars(core),
    types: typesOffered,
    exported: isJudged ? exportOfList(judged.filter) : null,
  }
}

/** `newer` and `older` say how far the search got at both ends of the list. */
type Rows = {
  readonly rows: readonly LogRow[]
  readonly newer: SearchEnd
  readonly older: SearchEnd
}
type Listing = Rows & Pick<LogListView, 'bars'> & { readonly isIndexed: boolean }

const complete: SearchEnd = { kind: 'complete' }
const pageFull: SearchEnd = { kind: 'page_full' }
const nothing: Listing = { rows: [], newer: complete, older: complete, bars: null, isIndexed: true }

/** If the index turns out to be damaged or locked, the log itself is searched, and nothing is counted. */
const rowsOf = async (parts: LogListParts, query: LogQuery, { filter, atMs }: JudgedQuery): Promise<Listing> => {
  const { ask } = parts.core
  let isIndexed = ask !== null
  const onUnusable = (): void => {
    isIndexed = false
  }
  const rows = await rowsFrom(parts, query, { filter, atMs, onUnusable })
  const around = atMs === null ? filter : { ...filter, until: filter.until ?? atMs + hourMs / 2 }
  const bars = await ifUsable(isIndexed ? counting(ask) : null, null, (counted) =>
    barsOf(counted, { query, filter: around }, parts.nowMs),
  )
  return { ...rows, bars, isIndexed }
}

type Wanted = Pick<JudgedQuery, 'filter' | 'atMs'> & { readonly onUnusable: () => void }

const rowsFrom = async (parts: LogListParts, query: LogQuery, wanted: Wanted): Promise<Rows> => {
  if (wanted.atMs !== null) return rowsAround(parts, wanted, wanted.atMs)
  const limit = logEventsPerPageMax
  if (query.after !== null) {
    const { rows, end } = await mergedRows(parts, wanted, { direction: 'forwards', from: query.after, limit })
    return { rows: rows.toReversed(), newer: end, older: pageFull }
  }
  const { rows, end } = await mergedRows(parts, wanted, { direction: 'backwards', from: query.before, limit })
  if (query.before !== null) return { rows, newer: pageFull, older: end }
  return { rows: [...(await unwrittenRows(parts, wanted)), ...rows], newer: complete, older: end }
}

/** Half of the page is before the instant, and half is after it. */
const rowsAround = async (parts: LogListParts, wanted: Wanted, atMs: number): Promise<Rows> => {
  const log = readsOfPage(parts.core.log)
  const limit = logEventsPerPageMax / 2
  const next = await findSince(parts, atMs + 1)
  const position = next?.position ?? Number.MAX_SAFE_INTEGER
  const older = await mergedRows(parts, wanted, { direction: 'backwards', from: next?.position ?? null, limit })
  const here: LogRow = { row: 'instant', position, at: atMs }
  if (next === null)
    return { rows: [...(await unwrittenRows(parts, wanted)), here, ...older.rows], newer: complete, older: older.end }
  const [before] = await log.readAll({ from: position, direction: 'backwards', limit: 1 })
  const newer = await mergedRows(parts, wanted, { direction: 'forwards', from: before?.position ?? null, limit })
  const unwritten = newer.end.kind === 'complete' ? await unwrittenRows(parts, wanted) : []
  return {
    rows: [...unwritten, ...newer.rows.toReversed(), here, ...older.rows],
    newer: newer.end,
    older: older.end,
  }
}

const unwrittenRows = (parts: LogListParts, { filter }: Wanted): Promise<readonly EventRow[]> =>
  eventRows(parts, unwrittenRefusals(parts.core, filter))

/** Returns the rows in the direction of the page. */
const mergedRows = async (parts: LogListParts, { filter, onUnusable }: Wanted, page: ListPage) => {
  const { core } = parts
  const isBackwards = page.direction === 'backwards'
  const isOnlyMinutes = !wantsReadings(filter) && (filter.kind === 'readings' || filter.type === 'ReadingAccepted')
  const found = isOnlyMinutes ? nothingFound : await findList(parts, { filter, page })
  if (core.ask !== null && !found.isIndexed) onUnusable()
  const events = await eventRows(parts, found.events)
  const limit = isOnlyMinutes ? minuteRowsShownMax : minuteRowsPerPageMax
  const minutePage = { ...page, to: reachedTo(found), limit }
  const counted = showsMinutes(filter) ? counting(core.ask) : null
  const minutes = await ifUsable(counted, noMinutes, (ask) => minuteRows({ ...parts, ask }, filter, minutePage))
  if (counted !== null && minutes === noMinutes) onUnusable()
  const lastCounted = minutes.isFull ? minutes.rows.at(-1)?.position : undefined
  const isReached = ({ position }: LogRow): boolean =>
    lastCounted === undefined || (isBackwards ? position >= lastCounted : position <= lastCounted)
  const merged = [...events.filter(isReached), ...minutes.rows].sort(inDirection(isBackwards))
  return { rows: isOnlyMinutes ? merged : foldMinutes(merged), end: minutes.isFull ? pageFull : found.end }
}

const nothingFound = { events: [], end: complete, isIndexed: true } as const

const noMinutes: MinuteRows = { rows: [], isFull: false }

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
  revision: isWritten(event) ? event.revision : null,
  sentence: sentenceOf(event, before, namesAt(core, event.position)),
  period: periodOf(event),
  by: byView(core, event),
  whyHref: whyHrefOf(event),
})

const whyHrefOf = (event: RecordedEvent): string | null => {
  if (event.type !== 'ReadingsRefused') return null
  const [sample] = event.data.samples
  if (sample !== undefined) return paths.refusedRequest(sample.requestId)
  return isWritten(event) ? paths.event(event.stream, event.revision) : null
}

const hrefsOf = (query: LogQuery, { rows, newer, older }: Rows) => {
  const placed = rows.filter((row) => row.row !== 'instant' && row.position < Number.MAX_SAFE_INTEGER)
  const [first, oldest] = [placed[0], placed.at(-1)?.position]
  const newest = first?.row === 'stretch' ? first.newestPosition : first?.position
  const turned = { ...query, at: '', before: null, after: null }
  const newerEnd = newer.kind === 'time_over' ? newer.position : newest
  const olderEnd = older.kind === 'time_over' ? older.position : oldest
  return {
    newerHref:
      newer.kind === 'complete' ? null : paths.log(newerEnd === undefined ? turned : { ...turned, after: newerEnd }),
    olderHref: older.kind === 'complete' || olderEnd === undefined ? null : paths.log({ ...turned, before: olderEnd }),
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

/** Events of the type `RecordUnreadable` are never stored. */
const typesOffered = eventTypes.filter((type) => type !== 'RecordUnreadable' && type !== 'RevisionVacant').toSorted()

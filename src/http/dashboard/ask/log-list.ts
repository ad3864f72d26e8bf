import type { EventRow, LogListView, LogQuery, LogRow, SearchEnd } from '../../../../views/log/log-types.ts'
import { sentenceOf } from '../../../../views/log/sentence.ts'
import { paths } from '../../../../views/paths.ts'
import { answerOf, isLate } from '../../../actors/ask/answer-of.ts'
import type { Core } from '../../../actors/core-interface.ts'
import {
  type Listed,
  type ListedHere,
  type ListPage,
  type ListWanted,
  wantsReadings,
} from '../../../actors/search/list-events.ts'
import { hourMs } from '../../../domain/calendar.ts'
import { declarationOf, eventTypes, type RecordedEvent } from '../../../domain/events.ts'
import { kindOf, periodOf } from '../../../domain/search/event-filter.ts'
import { type StateBefore, unknownBefore } from '../../../domain/search/state-before.ts'
import { exportOfList } from '../exports/export-of-list.ts'
import { namesAt } from '../show/event-names.ts'
import { barsOf } from './bars.ts'
import { byView } from './by-view.ts'
import { foldMinutes, minuteRowsShownMax } from './fold-minutes.ts'
import { withKeysOfRack } from './keys-that-sent.ts'
import type { LogListParts } from './log-list-parts.ts'
import { type MinuteRows, minuteRows, showsMinutes } from './minute-rows.ts'
import { type JudgedQuery, judgeQuery } from './read-log-query.ts'
import { isWritten, logEventsPerPageMax, type Summary, unwrittenRefusals, writtenAmong } from './unwritten-refusals.ts'

/** A page reads at most this many rows of counted readings, one for each cellar and minute. Then it ends, even with few events. */
export const minuteRowsPerPageMax = 600
const cellarsSuggestedMax = 200

/** @throws Outage, UndecodableEvent */
export const logListOf = async (parts: LogListParts, query: LogQuery): Promise<LogListView> => {
  const { core } = parts
  const typed = judgeQuery(query, parts)
  const isJudged = Object.keys(typed.faults).length === 0
  const judged = isJudged ? { ...typed, filter: await withKeysOfRack(parts, typed.filter) } : typed
  const listed = isJudged ? await rowsOf(parts, query, judged) : nothing
  return {
    query,
    faults: judged.faults,
    rows: listed.rows,
    end: query.after === null ? listed.older : listed.newer,
    bars: listed.bars,
    ...hrefsOf(query, listed),
    index: indexView(core, listed),
    about: aboutOf(core, judged),
    rackKeys: judged.filter.rack?.keys?.length ?? null,
    cellars: suggestedCellars(core),
    types: typesOffered,
    exported: isJudged ? exportOfList(judged.filter) : null,
  }
}

type Rows = {
  readonly rows: readonly LogRow[]
  readonly newer: SearchEnd
  readonly older: SearchEnd
}
type IndexUse = { readonly isIndexed: boolean; readonly isLate: boolean }
type Listing = Rows & Pick<LogListView, 'bars'> & IndexUse

const complete: SearchEnd = { kind: 'complete' }
const pageFull: SearchEnd = { kind: 'page_full' }
const nothing: Listing = { rows: [], newer: complete, older: complete, bars: null, isIndexed: true, isLate: false }

/** With a damaged or locked index, the log itself is searched, and nothing is counted. */
const rowsOf = async (parts: LogListParts, query: LogQuery, { filter, atMs }: JudgedQuery): Promise<Listing> => {
  const { core } = parts
  let use: IndexUse = { isIndexed: core.indexProgress() !== null, isLate: false }
  const onUse = (told: Partial<IndexUse>): void => {
    use = { ...use, ...told }
  }
  const rows = await rowsFrom(parts, query, { filter, atMs, onUse })
  const around = atMs === null ? filter : { ...filter, until: filter.until ?? atMs + hourMs / 2 }
  const bars = use.isIndexed && isCounted(core) ? await barsOf(parts, { query, filter: around }) : null
  return { ...rows, bars, ...use }
}

type Wanted = Pick<JudgedQuery, 'filter' | 'atMs'> & { readonly onUse: (told: Partial<IndexUse>) => void }

const rowsFrom = async (parts: LogListParts, query: LogQuery, wanted: Wanted): Promise<Rows> => {
  if (wanted.atMs !== null) return rowsAround(parts, wanted, wanted.atMs)
  const limit = logEventsPerPageMax
  if (query.after !== null) {
    const { rows, end } = await mergedRows(parts, wanted, { direction: 'forwards', from: query.after, limit })
    return { rows: rows.toReversed(), newer: end, older: pageFull }
  }
  const { unwritten, rows, end } = await mergedRows(parts, wanted, {
    direction: 'backwards',
    from: query.before,
    limit,
  })
  if (query.before !== null) return { rows, newer: pageFull, older: end }
  return { rows: [...unwritten, ...rows], newer: complete, older: end }
}

const rowsAround = async (parts: LogListParts, wanted: Wanted, atMs: number): Promise<Rows> => {
  const { core, owner } = parts
  const limit = logEventsPerPageMax / 2
  const { event: next, before } = answerOf(await core.questions.ask('firstSince', atMs + 1, { owner }))
  const position = next?.position ?? Number.MAX_SAFE_INTEGER
  const older = await mergedRows(parts, wanted, { direction: 'backwards', from: next?.position ?? null, limit })
  const here: LogRow = { row: 'instant', position, at: atMs }
  if (next === null) return { rows: [...older.unwritten, here, ...older.rows], newer: complete, older: older.end }
  const newer = await mergedRows(parts, wanted, { direction: 'forwards', from: before, limit })
  const unwritten = newer.end.kind === 'complete' ? newer.unwritten : []
  return {
    rows: [...unwritten, ...newer.rows.toReversed(), here, ...older.rows],
    newer: newer.end,
    older: older.end,
  }
}

const mergedRows = async (parts: LogListParts, { filter, atMs, onUse }: Wanted, page: ListPage) => {
  const { core } = parts
  const isBackwards = page.direction === 'backwards'
  const isOnlyMinutes = !wantsReadings(filter) && (filter.kind === 'readings' || filter.type === 'ReadingAccepted')
  const isAtEnd = isBackwards ? page.from === null : atMs !== null
  const also = isAtEnd ? unwrittenRefusals(core, filter) : []
  const found = isOnlyMinutes ? nothingFound : await find(parts, { filter, page, also })
  if (!found.isIndexed) onUse({ isIndexed: false })
  const { unwritten, events } = eventRows(core, also, found)
  const limit = isOnlyMinutes ? minuteRowsShownMax : minuteRowsPerPageMax
  const minutePage = { ...page, to: reachedTo(found), limit }
  const isShown = showsMinutes(filter) && isCounted(core)
  // The search has waited for the index already.
  const counting = { ...parts, isAtOnce: !isOnlyMinutes }
  const counted = isShown ? await minuteRows(counting, filter, minutePage) : noMinutes
  if (counted === null) onUse({ isIndexed: false })
  if (found.isLate || counted?.isLate === true) onUse({ isLate: true })
  const minutes = counted ?? noMinutes
  const lastCounted = minutes.isFull ? minutes.rows.at(-1)?.position : undefined
  const isReached = ({ position }: LogRow): boolean =>
    lastCounted === undefined || (isBackwards ? position >= lastCounted : position <= lastCounted)
  const merged = [...events.filter(isReached), ...minutes.rows].sort(inDirection(isBackwards))
  const shown = isOnlyMinutes ? merged : foldMinutes(merged)
  return { unwritten, rows: shown, end: minutes.isFull ? pageFull : found.end }
}

const nothingFound = { events: [], before: [], end: complete, isIndexed: true, isLate: false } as const

const noMinutes: MinuteRows = { rows: [], isFull: false, isLate: false }

const find = async ({ core, owner, pause }: LogListParts, wanted: ListWanted): Promise<ListedHere & IndexUse> => {
  const answered = await core.questions.ask('findEvents', wanted, { owner })
  await pause?.()
  return { ...answerOf(answered), isLate: isLate(answered) }
}

export const eventRows = (
  core: Core,
  also: readonly Summary[],
  { events, before }: Pick<ListedHere, 'events' | 'before'>,
) => {
  const rows = [...also, ...events].map((event, at) => eventRow(core, event, before[at] ?? unknownBefore))
  const isWrittenNow = writtenAmong(events)
  const unwritten = also.flatMap((summary, at) => (isWrittenNow(summary) ? [] : (rows[at] ?? [])))
  return { unwritten, events: rows.slice(also.length) }
}

/** `null`: the end of the log was reached. Rows of minutes behind this position belong to a later page. */
const reachedTo = ({ events, end }: Listed): number | null => {
  if (end.kind === 'time_over') return end.position
  return end.kind === 'page_full' ? (events.at(-1)?.position ?? null) : null
}

/** At one position, the event is newer than the rows of its minute. */
const inDirection = (isBackwards: boolean) => {
  const rank = ({ row }: LogRow): number => (row === 'event' ? 1 : 0)
  const cellarOf = (row: LogRow): string => (row.row === 'minute' ? (row.cellar?.id ?? '') : '')
  return (a: LogRow, b: LogRow): number => {
    const order = a.position - b.position || rank(a) - rank(b) || (cellarOf(a) < cellarOf(b) ? 1 : -1)
    return isBackwards ? -order : order
  }
}

const eventRow = (core: Core, event: RecordedEvent, before: StateBefore): EventRow => ({
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
const isCounted = (core: Core): boolean => {
  const progress = core.indexProgress()
  return progress !== null && !progress.isBehind && progress.trouble === null
}

const indexView = (core: Core, { isIndexed, isLate }: IndexUse): LogListView['index'] => {
  const progress = core.indexProgress()
  if (progress === null || !isIndexed) return { kind: 'none', why: null }
  if (progress.trouble !== null) return { kind: 'none', why: progress.trouble }
  if (!progress.isBehind) return { kind: isLate ? 'late' : 'current' }
  return { kind: 'behind', read: progress.position ?? 0, of: core.projections.position ?? 0 }
}

const aboutOf = (core: Core, { filter }: JudgedQuery): LogListView['about'] => {
  const { keys, cellars } = core.projections
  const key = filter.key === null ? null : keys.get(filter.key)
  if (key !== null) return { words: 'Page of the key', name: key.label, href: paths.key(key.keyId) }
  const cellar = filter.cellar === null ? null : cellars.get(filter.cellar)
  if (cellar !== null && filter.rack !== undefined)
    return { words: 'Page of the rack', name: filter.rack.name, href: paths.rack(cellar.cellar, filter.rack.name) }
  return cellar === null ? null : { words: 'Page of the cellar', name: cellar.title, href: paths.cellar(cellar.cellar) }
}

const suggestedCellars = ({ projections }: Core): LogListView['cellars'] => {
  const all = projections.cellars.list()
  return all.length > cellarsSuggestedMax ? [] : all.map(({ cellar, title }) => ({ id: cellar, title }))
}

const typesOffered = eventTypes.filter((type) => declarationOf(type).shown !== 'placeholder').toSorted()

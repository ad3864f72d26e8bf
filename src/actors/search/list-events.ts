import type { SearchReads } from '../../derived/questions/question.ts'
import { declarationOf, type RecordedEvent } from '../../domain/events.ts'
import type { LogFilter } from '../../domain/search/event-filter.ts'
import { type StateBefore, unknownBefore } from '../../domain/search/state-before.ts'
import { logReadPageEvents, logSearchMs } from '../../limits.ts'
import { StillSearching } from '../../log/event-log.ts'
import { statesBefore } from './event-context.ts'
import type { LogReads } from './patient-reads.ts'
import { type LogSearch, searchLog } from './search-log.ts'
import type { SearchPage } from './search-page.ts'

/** Events that a list reads before it looks at the time again. Each event can lie in another part of the log. */
const listedAtOnceMax = 50
/** After this time, a list reads no further states before its events. The other rows then say only the new values. */
const logComparedMs = 50

export type ListPage = Pick<SearchPage, 'direction' | 'from'> & { readonly limit: number }

export type ListWanted = {
  readonly filter: LogFilter
  readonly page: ListPage
  /** Not in the log yet. */
  readonly also?: readonly RecordedEvent[]
}

export type Listed = {
  readonly events: readonly RecordedEvent[]
  readonly end: ListEnd
}

type ListEnd =
  | { readonly kind: 'complete' }
  | { readonly kind: 'page_full' }
  /**
   * All events up to this position were compared. The next search begins there. `atMs`: when the event there was recorded.
   */
  | { readonly kind: 'time_over'; readonly position: number; readonly atMs: number | null }

/** `before`: what was before the events of `also`, then before those that were found. */
export type ListedHere = Listed & {
  readonly before: readonly StateBefore[]
  readonly isIndexed: boolean
}

/** @throws Outage, UndecodableEvent */
export const listHere = async (reads: SearchReads, { filter, page, also = [] }: ListWanted): Promise<ListedHere> => {
  let isIndexed = reads.ask !== null
  const onUnusable = (): void => {
    isIndexed = false
  }
  const listed = await listEvents({ ...reads, isOver: searchIsOver(reads), onUnusable }, filter, page)
  const isOver = overAfter(logComparedMs, reads.passedMs)
  return { ...listed, before: await comparedStates(reads.log, [...also, ...listed.events], isOver), isIndexed }
}

/** For a patient asker, a search is never over. */
export const searchIsOver = ({ passedMs, isPatient }: Pick<SearchReads, 'passedMs' | 'isPatient'>): (() => boolean) =>
  overAfter(isPatient ? Number.POSITIVE_INFINITY : logSearchMs, passedMs)

const overAfter = (ms: number, passedMs: () => number): (() => boolean) => {
  const beganMs = passedMs()
  return () => passedMs() - beganMs >= ms
}

/** Without a filter that wants them, single readings are left out, because they are too many. */
export const wantsReadings = ({ kind, type, key, cellar, actor, rack }: LogFilter): boolean =>
  kind === 'readings' || type === 'ReadingAccepted'
    ? key !== null || cellar !== null || actor !== null
    : rack !== undefined && kind === null && type === null

export type ListParts = Omit<LogSearch, 'isWithoutReadings'> & { readonly isOver: () => boolean }

/** @throws Outage, UndecodableEvent */
export const listEvents = async (parts: ListParts, filter: LogFilter, page: ListPage): Promise<Listed> => {
  const { limit } = page
  const wanted = { ...page, pageEvents: logReadPageEvents, limit: Math.min(limit, listedAtOnceMax) }
  const search = { ...parts, isWithoutReadings: !wantsReadings(filter) }
  const events: RecordedEvent[] = []
  try {
    for await (const { events: found, lookedTo } of searchLog(search, filter, wanted)) {
      events.push(...found)
      if (events.length >= limit) return { events: events.slice(0, limit), end: { kind: 'page_full' } }
      if (lookedTo !== null && parts.isOver()) return { events, end: { kind: 'time_over', ...lookedTo } }
    }
  } catch (error) {
    // Without a position from which the search can go on, the page itself must say that the store still searches.
    if (!(error instanceof StillSearching) || error.lookedTo === null) throw error
    return { events, end: { kind: 'time_over', position: error.lookedTo, atMs: null } }
  }
  return { events, end: { kind: 'complete' } }
}

const comparedStates = async (
  log: LogReads,
  events: readonly RecordedEvent[],
  isOver: () => boolean,
): Promise<readonly StateBefore[]> => {
  const compared = events.filter(
    ({ type, revision }) =>
      declarationOf(type).comparesState === true && (type === 'ReadingsRefused' || revision < logReadPageEvents),
  )
  const states = await statesBefore(log, compared, isOver)
  const known = new Map(compared.map((event, index) => [event, states[index]]))
  return events.map((event) => known.get(event) ?? unknownBefore)
}

import type { RecordedEvent } from '../../domain/events.ts'
import type { LogFilter } from '../../domain/search/event-filter.ts'
import { logReadPageEvents } from '../../limits.ts'
import { StillSearching } from '../../log/event-log.ts'
import { type LogSearch, searchLog } from './search-log.ts'
import type { SearchPage } from './search-page.ts'

/** Read before a look at the time. Each can lie in another part of the log. */
const listedAtOnceMax = 50

export type ListParts = Omit<LogSearch, 'isWithoutReadings'> & {
  readonly isOver: () => boolean
}

export type ListPage = Pick<SearchPage, 'direction' | 'from'> & { readonly limit: number }

export type Listed = {
  readonly events: readonly RecordedEvent[]
  readonly end: ListEnd
}

export type ListEnd =
  | { readonly kind: 'complete' }
  | { readonly kind: 'page_full' }
  /** All events up to this position were compared; `from` continues it. `atMs`: when the event there was recorded. */
  | { readonly kind: 'time_over'; readonly position: number; readonly atMs: number | null }

/** Without a filter that wants them, single readings are left out, because they are too many. */
export const wantsReadings = ({ kind, type, key, cellar, actor }: LogFilter): boolean =>
  (kind === 'readings' || type === 'ReadingAccepted') && (key !== null || cellar !== null || actor !== null)

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
    // Without an event or a position to go on from, the whole page says that the search goes on.
    if (!(error instanceof StillSearching) || error.lookedTo === null) throw error
    return { events, end: { kind: 'time_over', position: error.lookedTo, atMs: null } }
  }
  return { events, end: { kind: 'complete' } }
}

/**
 * `ask.db` says where events lie that are no readings. Readings of one key come from its stream, and events of a rack from
 * the streams of its keys. All else, and what `ask.db` does not have yet, comes from the log, page by page.
 */
import type { SearchReads } from '../../derived/questions/question.ts'
import type { RecordedEvent } from '../../domain/events.ts'
import { isOfRack, keyOfEvent, type LogFilter, matches, recordedUntil } from '../../domain/search/event-filter.ts'
import { cellarStream, keyStream, readingsStream, refusalsStream } from '../../domain/stream-names.ts'
import { readPageEventsMax, recordedSkewMsMax } from '../../limits.ts'
import { AskBusy, AskUnusable } from '../../log/ask-index.ts'
import { type CellarNames, placeOf } from '../../log/event-place.ts'
import { eventsAt } from './events-at.ts'
import { mergedStreams } from './merged-streams.ts'
import { positionBefore, someEventSince } from './position-of-instant.ts'
import { atOnce, type SearchPage } from './search-page.ts'

export type LogSearch = Pick<SearchReads, 'log' | 'ask' | 'cellarOfKey'> & {
  readonly isWithoutReadings?: boolean
  /** `ask.db` turned out to be damaged or locked. The search goes on in the log. */
  readonly onUnusable?: () => void
}

export type Found = {
  readonly events: readonly RecordedEvent[]
  /** All events up to there were compared. `null`: there are no more. */
  readonly lookedTo: { readonly position: number; readonly atMs: number | null } | null
}

/** Yields after each page, so that the caller can let other work run. @throws Outage, UndecodableEvent */
export async function* searchLog(
  search: LogSearch,
  filter: LogFilter,
  page: SearchPage,
): AsyncGenerator<Found, void, undefined> {
  const { ask } = search
  if (ask === null || filter.rack !== undefined || canFindReadings(search, filter))
    return yield* searchItself(search, filter, page)
  const { position: foldedTo, isBehind, trouble } = await ask.progress()
  const isCurrent = !isBehind && trouble === null
  const isForwards = page.direction === 'forwards'
  const to = page.to ?? null
  let { from } = page
  if (foldedTo === null) return yield* searchItself(search, filter, page)
  if (isForwards && isCurrent && to === null && from !== null && from >= foldedTo) return
  if (!isForwards && !isCurrent && (from === null || from > foldedTo + 1)) {
    for await (const found of searchItself(search, filter, { ...page, to: foldedTo })) {
      yield found
      from = found.lookedTo?.position ?? from
    }
  }
  const end = isForwards ? Math.min(foldedTo, to ?? foldedTo) : foldedTo
  // If `ask.db` is emptied and built again between two pages, it lacks places until it reaches `foldedTo` again.
  const isWhole = async (): Promise<boolean> => ((await ask.progress()).position ?? -1) >= foldedTo
  try {
    while ((await isWhole()) && (!isForwards || (from ?? -1) < end)) {
      const begin = isForwards ? from : Math.min(from ?? end + 1, end + 1)
      const found = await ask.find(filter, { direction: page.direction, from: begin, limit: atOnce(page) })
      const events = await eventsAt(
        search.log,
        found.places.filter(({ position }) => position <= end),
      )
      if (!(await isWhole())) break
      const isDone = found.lookedTo === null && (!isForwards || (isCurrent && to === null))
      // Places behind `end` were left out, so the next page must begin at `end` at most.
      const position = isForwards ? Math.min(found.lookedTo ?? end, end) : (found.lookedTo ?? end)
      yield { events, lookedTo: isDone ? null : { position, atMs: (await ask.placeAt(position))?.recordedAt ?? null } }
      if (isDone) return
      from = position
    }
  } catch (error) {
    // The log has all that `ask.db` has.
    if (!(error instanceof AskUnusable || error instanceof AskBusy)) throw error
    search.onUnusable?.()
  }
  if (isForwards && to !== null && (from ?? -1) >= to) return
  yield* searchItself(search, filter, { ...page, from })
}

const isOfReadings = ({ type, kind }: LogFilter): boolean => type === 'ReadingAccepted' || kind === 'readings'

/** `ask.db` has no readings. Only keys store readings, so no filter by another actor finds any. */
const canFindReadings = ({ isWithoutReadings = false }: LogSearch, { type, kind, actor }: LogFilter): boolean =>
  !isWithoutReadings &&
  (type === null || type === 'ReadingAccepted') &&
  (kind === null || kind === 'readings') &&
  (actor === null || keyOfActor(actor) !== null)

const keyOfActor = (actor: string | null): string | null => /^clr_([^@]+)$/.exec(actor ?? '')?.[1] ?? null

async function* searchItself(
  search: LogSearch,
  filter: LogFilter,
  page: SearchPage,
): AsyncGenerator<Found, void, undefined> {
  if (filter.type === 'ReadingAccepted' && !canFindReadings(search, filter)) return
  const streams = await streamsOf(search, filter)
  const pages =
    streams === null ? pagesOfLog(search, filter, page) : mergedStreams(search.log, streams, { filter, page })
  for await (const events of pages) {
    const matching: RecordedEvent[] = []
    for (const event of events) {
      if (event.type === 'ReadingAccepted' && search.isWithoutReadings === true) continue
      if (!isOfRack(event, filter.rack)) continue
      if (await isWanted(search, event, filter)) matching.push(event)
    }
    const last = events.at(-1)
    yield { events: matching, lookedTo: last === undefined ? null : { position: last.position, atMs: last.recordedAt } }
  }
}

/** `null`: events of any stream can match. */
const streamsOf = async (search: LogSearch, filter: LogFilter): Promise<readonly string[] | null> => {
  const { cellarOfKey } = search
  const { stream, key, rack } = filter
  if (stream !== null) return [stream]
  const keyId = key ?? (isOfReadings(filter) ? keyOfActor(filter.actor) : null)
  const keys = keyId === null ? (rack?.keys ?? null) : [keyId]
  // `ask.db` forgets the keys of racks that were silent for long.
  if (rack !== undefined && keys?.length === 0 && canFindReadings(search, filter)) return null
  if (keys === null || isOfReadings(filter)) return keys?.map(readingsStream) ?? null
  const streams = new Set<string>()
  for (const each of keys) {
    const cellar = await cellarOfKey(each)
    if (cellar === null) continue
    // A search of all readings for seals and fences would take long, so the list of a rack has them only with its readings.
    if (rack === undefined || filter.kind === null || filter.type !== null) streams.add(readingsStream(each))
    streams.add(keyStream(each)).add(refusalsStream(each)).add(cellarStream(cellar))
  }
  return [...streams]
}

const isWanted = async ({ cellarOfKey }: LogSearch, event: RecordedEvent, filter: LogFilter): Promise<boolean> => {
  const { cellar } = filter
  if (!matches(placeOf(event, noCellars), { ...filter, cellar: null })) return false
  if (cellar === null) return true
  const key = keyOfEvent(event)
  const ofKey = key === null ? null : await cellarOfKey(key)
  const ofStream = (stream: string): string | null => (stream === cellarStream(cellar) ? cellar : null)
  return placeOf(event, { ofKey: () => ofKey, ofStream }).cellar === cellar
}

const noCellars: CellarNames = { ofKey: () => null, ofStream: () => null }

/**
 * Ends after `readPageEventsMax` events in a row outside the times of the filter. Behind fewer such events, a wanted event
 * can still follow (`positionBefore`).
 */
async function* pagesOfLog({ log, ask }: LogSearch, filter: LogFilter, page: SearchPage) {
  const { direction, to = null, pageEvents: limit } = page
  const isForwards = direction === 'forwards'
  const endMs = recordedUntil(filter)
  const isOutside = ({ recordedAt }: RecordedEvent): boolean =>
    isForwards ? recordedAt >= endMs : filter.since !== null && recordedAt < filter.since - recordedSkewMsMax
  const isPast = ({ position }: RecordedEvent): boolean => to !== null && (isForwards ? position > to : position <= to)
  let { from } = page
  if (from === null && isForwards && filter.since !== null) from = await positionBefore(log, filter.since, ask)
  if (from === null && !isForwards && filter.until !== null)
    from = (await someEventSince(log, endMs, ask))?.position ?? null
  for (let outsideInRow = 0; outsideInRow < readPageEventsMax; ) {
    const events = await log.readAll({ ...(from === null ? {} : { from }), direction, limit })
    const last = events.at(-1)
    if (last === undefined) return
    const end = events.findIndex(isPast)
    yield end < 0 ? events : events.slice(0, end)
    if (end >= 0 || (isForwards && last.position === to)) return
    from = last.position
    for (const event of events) outsideInRow = isOutside(event) ? outsideInRow + 1 : 0
  }
}

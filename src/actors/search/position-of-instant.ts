/**
 * The embedded log can be read at any position, so a binary search finds the place of an instant. EventStoreDB reads only
 * at positions of events, but within a stream at any revision. So the search goes ahead along streams there. In a few
 * streams of a page, it finds the last event before the instant. It goes on at the one that lies furthest ahead.
 *
 * Times never decrease within a stream, except in streams of records. Between streams, a later event can have an earlier
 * time. Clocks differ (docs/decisions/017-clocks.md), and an append can wait for the store. A copy of a log moves readings
 * within a page (docs/protocol.md, "Copying a log"). So the search takes `recordedSkewMsMax` off the instant, and looks
 * back until no event of a whole page is from that time on.
 *
 * `ask.db` has the first position of each minute. The search begins there, and never goes further back.
 */
import { minuteMs } from '../../domain/calendar.ts'
import type { RecordedEvent } from '../../domain/events.ts'
import { keyOfEvent } from '../../domain/search/event-filter.ts'
import { readingsStream } from '../../domain/stream-names.ts'
import { logReadPageEvents, readPageEventsMax, recordedSkewMsMax } from '../../limits.ts'
import { AskBusy, AskUnusable, type MinutePosition } from '../../log/ask-index.ts'
import type { Ask } from './ask-db.ts'
import { firstRevision } from './first-revision.ts'
import type { LogReads } from './patient-reads.ts'

const instantStreamsMax = 16
/** Pages that are read one after the other when the streams of a page led no further. */
const instantPagesMax = 16

type Minutes = Pick<Ask, 'positionOfMinute'> | null

/**
 * All events since `instantMs` lie after the returned position. `null`: the beginning of the log. Some earlier events lie
 * there too, so the caller compares `recordedAt`. The search can miss an event if a whole page behind it
 * (`readPageEventsMax`) was recorded more than `recordedSkewMsMax` before the instant. This needs a clock that was ahead,
 * or a node that was cut off from the store for that long. @throws Outage, UndecodableEvent
 */
export const positionBefore = async (
  log: LogReads,
  instantMs: number,
  minutes: Minutes = null,
): Promise<number | null> => {
  const isFromThen = recordedSince(instantMs - recordedSkewMsMax)
  const begin = await beginOf(log, instantMs, minutes)
  const search = log.lags === true ? searchStreams : searchPositions
  const reached = await search(log, begin, isFromThen)
  return reached === begin || reached === null ? reached : backBeyond(log, { begin, reached }, isFromThen)
}

/** All events since the instant lie after it. `null`: the beginning of the log, or unknown. */
const beginOf = async (log: LogReads, instantMs: number, minutes: Minutes): Promise<number | null> => {
  const minute = Math.floor(instantMs / minuteMs)
  const row = minutes === null ? null : await rowSince(minutes, minute)
  if (row === null || row.minute < minute) return row?.position ?? null
  const [before] = await log.readAll({ from: row.position, direction: 'backwards', limit: 1 })
  return before?.position ?? null
}

const rowSince = async (minutes: NonNullable<Minutes>, minute: number): Promise<MinutePosition | null> => {
  try {
    let found = await minutes.positionOfMinute(Number.MAX_SAFE_INTEGER)
    for (let low = minute; found !== null && low < found.minute; ) {
      const middle = Math.floor((low + found.minute) / 2)
      const row = await minutes.positionOfMinute(middle)
      if (row !== null && row.minute >= minute) found = row
      else low = middle + 1
    }
    return found
  } catch (error) {
    if (error instanceof AskUnusable || error instanceof AskBusy) return null
    throw error
  }
}

/** @throws Outage, UndecodableEvent */
export const firstEventSince = async (
  log: LogReads,
  instantMs: number,
  minutes: Minutes = null,
): Promise<RecordedEvent | null> => {
  let after = await positionBefore(log, instantMs, minutes)
  while (true) {
    const page = await log.readAll({ ...(after === null ? {} : { from: after }), limit: logReadPageEvents })
    const found = page.find(({ recordedAt }) => recordedAt >= instantMs)
    if (found !== undefined) return found
    const last = page.at(-1)
    if (last === undefined) return null
    after = last.position
  }
}

/**
 * Returns some event since `instantMs`, not always the first. In the page behind it (`logReadPageEvents`), no event was
 * recorded more than `recordedSkewMsMax` before the instant. Reads fewer events than `firstEventSince`. @throws Outage,
 * UndecodableEvent
 */
export const someEventSince = async (
  log: LogReads,
  instantMs: number,
  minutes: Minutes = null,
): Promise<RecordedEvent | null> => {
  const search = log.lags === true ? searchStreams : searchPositions
  let begin = await beginOf(log, instantMs, minutes)
  while (true) {
    const reached = await search(log, begin, recordedSince(instantMs))
    const page = await log.readAll({ ...(reached === null ? {} : { from: reached }), limit: logReadPageEvents })
    // A clock that was ahead can have written the first row of a minute, far before the other events of that minute.
    const early = page.findLast(({ recordedAt }) => recordedAt < instantMs - recordedSkewMsMax)
    if (early === undefined) return page[0] ?? null
    begin = early.position
  }
}

type IsFromThen = (event: RecordedEvent) => boolean

const recordedSince =
  (sinceMs: number): IsFromThen =>
  ({ recordedAt }) =>
    recordedAt >= sinceMs

/**
 * Finds an event before the instant whose next event is not before the instant, or the last event of the log. Returns its
 * position. Returns `begin` if no event after `begin` is before the instant.
 */
const searchPositions = async (log: LogReads, begin: number | null, isFromThen: IsFromThen): Promise<number | null> => {
  const [last] = await log.readAll({ direction: 'backwards', limit: 1 })
  let low = begin
  let high = last?.position ?? 0
  while ((low ?? 0) < high) {
    const middle = Math.floor(((low ?? 0) + high) / 2)
    const [event] = await log.readAll({ from: middle, limit: 1 })
    if (event === undefined || isFromThen(event)) high = middle
    else low = event.position
  }
  return low
}

const searchStreams = async (log: LogReads, begin: number | null, isFromThen: IsFromThen): Promise<number | null> => {
  let reached = begin
  // If the streams of a page led no further, the next pages search no streams: a page takes one read, its streams take a
  // hundred.
  let pagesUntilStreams = 0
  while (true) {
    const page: readonly RecordedEvent[] = await log.readAll({
      ...(reached === null ? {} : { from: reached }),
      limit: logReadPageEvents,
    })
    const found = page.findIndex(isFromThen)
    reached = (found < 0 ? page.at(-1) : page[found - 1])?.position ?? reached
    if (found >= 0 || page.length === 0 || reached === null) return reached
    pagesUntilStreams -= 1
    if (pagesUntilStreams > 0) continue
    const ahead = await furthestAhead(log, { page, reached, isFromThen })
    if (ahead === reached) pagesUntilStreams = instantPagesMax
    reached = ahead
  }
}

type Ahead = {
  readonly page: readonly RecordedEvent[]
  readonly reached: number
  readonly isFromThen: IsFromThen
}

/**
 * The position of the last event before the instant, in the stream of the page where it lies furthest ahead. All streams
 * are searched at once, because each read waits for the store.
 */
const furthestAhead = async (log: LogReads, { page, reached, isFromThen }: Ahead): Promise<number> => {
  const positions = [...streamsOf(page)].map(async (stream) => {
    const revision = await firstRevision(log, stream, isFromThen)
    const [last] = revision === 0 ? [] : await log.read(stream, { from: revision - 1, limit: 1 })
    return last === undefined || isFromThen(last) ? reached : last.position
  })
  return Math.max(reached, ...(await Promise.all(positions)))
}

/** A key's changes are few, so its readings are searched instead. The newest streams of the page likely go on longest. */
const streamsOf = (page: readonly RecordedEvent[]): ReadonlySet<string> => {
  const streams = new Set<string>()
  for (const event of page.toReversed()) {
    const keyId = keyOfEvent(event)
    streams.add(keyId === null ? event.stream : readingsStream(keyId))
    if (streams.size >= instantStreamsMax) break
  }
  return streams
}

type Back = { readonly begin: number | null; readonly reached: number }

/**
 * Goes back until `readPageEventsMax` events in a row were recorded before the instant. Returns the position of the newest
 * of these events, or `begin`.
 */
const backBeyond = async (log: LogReads, { begin, reached }: Back, isFromThen: IsFromThen): Promise<number | null> => {
  let newest: number | null = reached
  let from = reached
  for (let earlierInRow = 1; earlierInRow < readPageEventsMax; ) {
    const page = await log.readAll({ from, direction: 'backwards', limit: logReadPageEvents })
    const oldest = page.at(-1)
    if (oldest === undefined) break
    for (const event of page) {
      if (event.position <= (begin ?? -1)) return newest ?? begin
      const isMisplaced = isFromThen(event)
      newest = isMisplaced ? null : (newest ?? event.position)
      earlierInRow = isMisplaced ? 0 : earlierInRow + 1
    }
    from = oldest.position
  }
  return newest ?? begin
}

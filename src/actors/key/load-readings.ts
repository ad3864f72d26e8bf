import { type Limit, narrowTo, type RecordedEvent } from '../../domain/events.ts'
import {
  foldReadings,
  noReadings,
  type ReadingsEventType,
  type ReadingsState,
} from '../../domain/reading/admit-by-key-and-window.ts'
import { rateWindowSlots, readPageEventsMax, tailEventsMax } from '../../limits.ts'
import type { EventLog } from '../../log/event-log.ts'

type ReadingsEvent = RecordedEvent<ReadingsEventType>
type EventAt = Pick<ReadingsEvent, 'stream' | 'revision' | 'recordedAt'>

/** The last events, at most `tailEventsMax`, oldest first. */
export const readTail = async (log: EventLog, stream: string): Promise<readonly ReadingsEvent[]> => {
  const page = await log.read(stream, { direction: 'backwards', limit: tailEventsMax })
  return page.map((event) => narrowTo('readings', event)).reverse()
}

/**
 * The state after `tail`. If the rate window begins before `tail`, a binary search finds its first event, and revisions
 * give the number of readings. That number includes fences, so the window can admit fewer than the limit, never more.
 */
export const loadReadings = async (
  log: EventLog,
  tail: readonly ReadingsEvent[],
  at: { readonly limit: Limit; readonly now: number },
): Promise<ReadingsState> => {
  const state = noReadings(at.limit.windowMs)
  const [oldest, newest] = [tail[0], tail.at(-1)]
  if (oldest === undefined || newest === undefined) return state
  const now = Math.max(at.now, newest.recordedAt)
  const fromMs = state.window.firstCountedMs(now)
  if (oldest.recordedAt >= fromMs && oldest.revision > 0) {
    const first = await firstSince(log, oldest, fromMs)
    if (first.revision < oldest.revision) await countRun(log, state, { first, end: oldest, limit: at.limit })
  }
  // If no event is in the window, `slice(-1)` takes the last one: it gives the stream's revision, and can be the seal.
  const start = tail.findIndex(({ recordedAt }) => recordedAt >= fromMs)
  for (const event of tail.slice(start)) foldReadings(state, event)
  // Readings that left before `now` were not counted. At an earlier time the window would admit too many.
  state.window.leaveUntil(now)
  return state
}

/** `last` is of the same stream, and also recorded at `fromMs` or later. */
export const firstSince = async (log: EventLog, last: EventAt, fromMs: number): Promise<EventAt> => {
  let found = last
  let low = 0
  while (low < found.revision) {
    const middle = await eventAt(log, last.stream, low + Math.floor((found.revision - low) / 2))
    if (middle.revision >= found.revision) return found
    if (middle.recordedAt >= fromMs) found = middle
    else low = middle.revision + 1
  }
  return found
}

/**
 * Counts the readings from `first` up to the event before `end`. If they are more than a page, only the last event of each
 * part is read. A part counts at the time of its end, so its readings leave the window late, never early. A part has a
 * slot's share of the limit. Only the oldest part can be larger: it holds all readings before those that fill the window.
 */
const countRun = async (
  log: EventLog,
  state: ReadingsState,
  { first, end, limit }: { readonly first: EventAt; readonly end: EventAt; readonly limit: Limit },
): Promise<void> => {
  const events = end.revision - first.revision
  if (events <= readPageEventsMax) {
    const page = await log.read(first.stream, { from: first.revision, limit: events })
    for (const event of page) foldReadings(state, narrowTo('readings', event))
    return
  }
  const share = Math.ceil(limit.readings / rateWindowSlots)
  const parts = Math.min(rateWindowSlots, Math.floor((events - 1) / share))
  const revisions = Array.from({ length: parts }, (_, part) => end.revision - (parts - part) * share)
  const ends = await Promise.all(revisions.map((revision) => eventAt(log, first.stream, revision)))
  let counted = first.revision
  for (const { revision, recordedAt } of [...ends, end]) {
    state.window.record(recordedAt, revision - counted)
    counted = revision
  }
  state.revision = end.revision - 1
}

/** The event at `revision`. If it was purged: the next event that is left. */
export const eventAt = async (log: EventLog, stream: string, revision: number): Promise<EventAt> => {
  const [event] = await log.read(stream, { from: revision, limit: 1 })
  if (event === undefined) throw new Error(`Cannot read revision ${revision} of "${stream}": later ones were read`)
  return narrowTo('readings', event)
}

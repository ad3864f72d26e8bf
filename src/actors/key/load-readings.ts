import type { RecordedEvent } from '../../domain/events.ts'
import { foldReadings, noReadings, type ReadingsEventType, type ReadingsState } from '../../domain/reading/admission.ts'
import { readPageEventsMax, tailEventsMax } from '../../limits.ts'
import type { EventLog } from '../../log/event-log.ts'
import { narrowTo } from '../stream/narrow-event.ts'

type ReadingsEvent = RecordedEvent<ReadingsEventType>
/** What is asked of an event while one is looked for. */
type Place = Pick<ReadingsEvent, 'stream' | 'revision' | 'recordedAt'>

/** The newest of `readings-<id>`, oldest first; empty if there is none. */
export const readTail = async (log: EventLog, stream: string): Promise<readonly ReadingsEvent[]> => {
  const page = await log.read(stream, { direction: 'backwards', limit: tailEventsMax })
  return page.map((event) => readingsEvent(event)).reverse()
}

/**
 * The state at the end of `tail`, with its window counted as if every event since the beginning had been folded.
 *
 * The tail holds the window whole for most keys. For a busier one the window's first reading is found by bisection, since
 * recordedAt never goes back within a stream, and what lies between is counted by differences of revisions: so loading
 * costs the same at any limit. A fence within such a run of equal slots counts as a reading: a place too few for one
 * window at the most, never one too many.
 */
export const loadReadings = async (
  log: EventLog,
  tail: readonly ReadingsEvent[],
  at: { readonly windowMs: number; readonly now: number },
): Promise<ReadingsState> => {
  const state = noReadings(at.windowMs)
  const [oldest, newest] = [tail[0], tail.at(-1)]
  if (oldest === undefined || newest === undefined) return state
  const now = Math.max(at.now, newest.recordedAt)
  const fromMs = state.window.firstCountedMs(now)
  if (oldest.recordedAt >= fromMs && oldest.revision > 0) {
    const first = await firstSince(log, oldest, fromMs)
    if (first.revision < oldest.revision) await countRun(log, state, first, oldest)
  }
  // From the first that counts to the end without a gap, and the last one always: it holds the revision, and it alone can
  // be a seal. A seal's own time decides nothing: it may lie before that of the reading it follows.
  const start = tail.findIndex(({ recordedAt }) => recordedAt >= fromMs)
  for (const event of tail.slice(start)) foldReadings(state, event)
  // What came before is left out as of now: should the clock go back, the window must not be judged at an earlier time.
  state.window.leaveUntil(now)
  return state
}

/** The first event of the stream that was recorded at `fromMs` or later; `last` was. */
export const firstSince = async (log: EventLog, last: Place, fromMs: number): Promise<Place> => {
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

/** Counts the events from `first` up to, and without, `end`. Whole slots are halved until they are one slot or one page. */
const countRun = async (log: EventLog, state: ReadingsState, first: Place, end: Place): Promise<void> => {
  const runs: [Place, Place][] = [[first, end]]
  for (let run = runs.pop(); run !== undefined; run = runs.pop()) {
    const [from, to] = run
    const events = to.revision - from.revision
    if (events <= readPageEventsMax) {
      const page = await log.read(from.stream, { from: from.revision, limit: events })
      for (const event of page) foldReadings(state, readingsEvent(event))
    } else if (state.window.sameSlot(from.recordedAt, to.recordedAt)) {
      state.window.record(to.recordedAt, events)
      state.revision = to.revision - 1
    } else {
      const middle = await eventAt(log, from.stream, from.revision + Math.floor(events / 2))
      runs.push([middle, to], [from, middle])
    }
  }
}

/** The event at that revision, or the first after it if older ones were purged. */
export const eventAt = async (log: EventLog, stream: string, revision: number): Promise<Place> => {
  const [event] = await log.read(stream, { from: revision, limit: 1 })
  if (event === undefined) throw new Error(`Cannot read revision ${revision} of "${stream}": later ones were read`)
  return readingsEvent(event)
}

export const readingsEvent = narrowTo('ReadingAccepted', 'ReadingsFenced', 'ReadingsSealed')

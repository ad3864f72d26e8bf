import type { RecordedEvent } from '../../domain/events.ts'
import { isKeyId } from '../../domain/key-format.ts'
import { keyOfEvent } from '../../domain/search/event-filter.ts'
import { nothingBefore, type StateBefore, stateAfter, unknownBefore } from '../../domain/search/state-before.ts'
import { categoryOf, keyIdOf, keyStream } from '../../domain/stream-names.ts'
import { logReadPageEvents } from '../../limits.ts'
import type { EventLog } from '../../log/event-log.ts'
import { type LogReads, unlessSearching } from './patient-reads.ts'

/** Most streams of keys, cellars and operators are much shorter. */
export const stateBeforeEventsMax = 10_000
/** How many events are read on each side of an event. A batch has no more readings than this. */
const sameRequestEventsMax = 1_000

/**
 * `unknownBefore` after more than `stateBeforeEventsMax`: a page then says only the new values. @throws Outage,
 * UndecodableEvent
 */
export const stateBefore = async (log: Pick<EventLog, 'read'>, event: RecordedEvent): Promise<StateBefore> => {
  const [state = unknownBefore] = await statesBefore(log, [event])
  return state
}

/**
 * Reads a stream once for all its events. When `isOver` becomes true, the rest is `unknownBefore`. @throws Outage,
 * UndecodableEvent
 */
export const statesBefore = async (
  log: Pick<EventLog, 'read'>,
  events: readonly RecordedEvent[],
  isOver: () => boolean = () => false,
): Promise<readonly StateBefore[]> => {
  const sought = events.map((event) => new SoughtState(event))
  for (const [stream, ofStream] of Map.groupBy(sought, ({ event }) => streamAbout(event))) {
    if (stream === null) for (const each of ofStream) each.state = nothingBefore
    else if (!isOver()) await foldUpTo(log, stream, { sought: ofStream, isOver })
  }
  return sought.map(({ state, isOneLimit }) => (isOneLimit ? (state ?? unknownBefore) : unknownBefore))
}

class SoughtState {
  readonly event: RecordedEvent
  state: StateBefore | null = null
  isOneLimit = true

  constructor(event: RecordedEvent) {
    this.event = event
  }

  includes(one: RecordedEvent): boolean {
    if (!isBefore(one, this.event)) return false
    if (changesLimitDuring(one, this.event)) this.isOneLimit = false
    return true
  }
}

/** If the limit changed while the summary counted its refusals, no single limit holds for all of them. */
const changesLimitDuring = (one: RecordedEvent, event: RecordedEvent): boolean =>
  event.type === 'ReadingsRefused' && one.type === 'KeyLimitChanged' && one.recordedAt > event.data.from

/** `unknownBefore` after more than `stateBeforeEventsMax`, or if `isOver` becomes true. @throws Outage, UndecodableEvent */
export const stateAtInstant = async (
  log: Pick<EventLog, 'read'>,
  stream: string,
  atMs: number,
  isOver: () => boolean = () => false,
): Promise<StateBefore> => {
  const sought: Sought = { state: null, includes: ({ recordedAt }) => recordedAt <= atMs }
  await foldUpTo(log, stream, { sought: [sought], isOver })
  return sought.state ?? unknownBefore
}

type Sought = { state: StateBefore | null; readonly includes: (event: RecordedEvent) => boolean }

type Folding = { readonly sought: readonly Sought[]; readonly isOver: () => boolean }

const foldUpTo = async (log: Pick<EventLog, 'read'>, stream: string, { sought, isOver }: Folding): Promise<void> => {
  let open = sought
  let state = nothingBefore
  for (let next = 0; open.length > 0 && next < stateBeforeEventsMax && !isOver(); ) {
    const page = await log.read(stream, { from: next, limit: logReadPageEvents })
    for (const event of page) {
      const reached = open.filter((each) => !each.includes(event))
      for (const each of reached) each.state = state
      if (reached.length > 0) open = open.filter((each) => each.state === null)
      state = stateAfter(state, event)
    }
    const last = page.at(-1)
    if (last === undefined || page.length < logReadPageEvents) for (const each of open) each.state = state
    if (last === undefined || page.length < logReadPageEvents) return
    next = last.revision + 1
  }
}

const streamAbout = (event: RecordedEvent): string | null => {
  const category = categoryOf(event.stream)
  const keyId = category === 'refusals' ? keyIdOf(event.stream) : keyOfEvent(event)
  if (keyId !== null && isKeyId(keyId)) return keyStream(keyId)
  return category === 'cellar' || category === 'operator' ? event.stream : null
}

/** A summary can be written long after its refusals. So its state is the one at its last refusal. */
const isBefore = (one: RecordedEvent, event: RecordedEvent): boolean =>
  event.type === 'ReadingsRefused' ? one.recordedAt <= event.data.to : one.position < event.position

export type SameRequest = {
  /** Also `event` itself, in the order of the log. */
  readonly events: readonly RecordedEvent[]
  readonly isComplete: boolean
}

/**
 * Among `sameRequestEventsMax` events on each side, because those of a request lie near each other. `eventsOfId` finds them
 * further away, but needs the time for it. @throws Outage, UndecodableEvent
 */
export const eventsOfSameRequest = async (log: LogReads, event: RecordedEvent): Promise<SameRequest> => {
  const before = await sideOf(log, event, 'backwards')
  const after = await sideOf(log, event, 'forwards')
  const near = [...before.events.toReversed(), event, ...after.events]
  return {
    events: near.filter(({ metadata }) => metadata.requestId === event.metadata.requestId),
    isComplete: before.isEnd && after.isEnd,
  }
}

const sideOf = async (log: LogReads, { position }: RecordedEvent, direction: 'forwards' | 'backwards') => {
  const limit = sameRequestEventsMax
  const events = await unlessSearching(log.readAll({ from: position, direction, limit }), null)
  const last = events?.at(-1)
  if (last === undefined || events?.length === limit) return { events: events ?? [], isEnd: events?.length === 0 }
  // A store that several programs share can return fewer events before the end of the log.
  const rest = await unlessSearching(log.readAll({ from: last.position, direction, limit: 1 }), null)
  return { events: events ?? [], isEnd: rest?.length === 0 }
}

import type { Ask, AskProgress } from '../../../src/actors/core.ts'
import type { RecordedEvent } from '../../../src/domain/events.ts'
import { actorText, keyOfEvent, kindOf } from '../../../src/domain/search/event-filter.ts'
import type {
  EventPlace,
  FoundPlaces,
  HourCount,
  MinuteCount,
  PlaceFilter,
  PlacePage,
} from '../../../src/log/ask-index.ts'
import type { EventLog } from '../../../src/log/event-log.ts'

export type AskOptions = {
  /** Returns `null` if there is no such cellar or key. */
  readonly cellarOf: (event: RecordedEvent) => string | null
  /** Default: it holds the whole log. */
  readonly progress?: () => Partial<AskProgress>
}

/** Answers like `ask.db`, by a naive computation from the whole log. */
export const naiveAsk = (log: EventLog, options: AskOptions): Ask & { readonly calls: () => number } => {
  let events: readonly RecordedEvent[] = []
  let calls = 0
  const placeOf = (event: RecordedEvent): EventPlace => ({
    position: event.position,
    stream: event.stream,
    revision: event.revision,
    recordedAt: event.recordedAt,
    kind: kindOf(event),
    type: event.type,
    actor: actorText(event.metadata.by),
    key: keyOfEvent(event),
    cellar: options.cellarOf(event),
  })
  const places = (): readonly EventPlace[] => events.filter(({ type }) => type !== 'ReadingAccepted').map(placeOf)
  return {
    calls: () => calls,
    progress: () => ({
      position: events.at(-1)?.position ?? null,
      isBehind: false,
      trouble: null,
      ...options.progress?.(),
    }),
    bringUp: async () => {
      events = await everyEvent(log)
    },
    find: async (filter, page) => {
      calls += 1
      return found(places(), filter, page)
    },
    eventsAt: async (wanted) =>
      wanted.flatMap(({ position }) => events.find((event) => event.position === position) ?? []),
    placesOfId: async (id) =>
      events
        .filter((event) => event.type !== 'ReadingAccepted' && (event.id === id || event.metadata.requestId === id))
        .map(placeOf),
    placeAt: (position) => places().find((place) => place.position === position) ?? null,
    minuteCounts: async (cellar, from, to) =>
      minuteCounts(events, options).filter(
        (count) => count.cellar === cellar && count.minute >= from && count.minute < to,
      ),
    hourCounts: async (key, from, to) =>
      hourCounts(events, options).filter((count) => count.key === key && count.hour >= from && count.hour < to),
    refusalsOfCellar: async (cellar, from, limit) =>
      hourCounts(events, options)
        .filter((count) => count.cellar === cellar && count.code !== 'accepted' && count.hour >= from)
        .sort((a, b) => b.count - a.count)
        .slice(0, limit),
    seenRacks: async () => [],
    positionOfMinute: (minute) => {
      const first = firstOfMinutes(events).findLast((known) => known.minute <= minute)
      return first ?? null
    },
  }
}

const everyEvent = async (log: EventLog): Promise<readonly RecordedEvent[]> => {
  const events: RecordedEvent[] = []
  for (;;) {
    const last = events.at(-1)
    const page = await log.readAll({ ...(last === undefined ? {} : { from: last.position }), limit: 1_000 })
    if (page.length === 0) return events
    events.push(...page)
  }
}

const found = (
  places: readonly EventPlace[],
  filter: PlaceFilter,
  { direction, from, limit }: PlacePage,
): FoundPlaces => {
  const ordered = direction === 'forwards' ? places : places.toReversed()
  const isAhead = ({ position }: EventPlace): boolean =>
    from === null || (direction === 'forwards' ? position > from : position < from)
  const fields = ['stream', 'kind', 'type', 'actor', 'key', 'cellar'] as const
  const matching = ordered.filter(
    (place) =>
      isAhead(place) &&
      fields.every((field) => filter[field] === null || filter[field] === place[field]) &&
      (filter.since === null || place.recordedAt >= filter.since) &&
      (filter.until === null || place.recordedAt < filter.until),
  )
  const page = matching.slice(0, limit)
  return { places: page, lookedTo: matching.length > limit ? (page.at(-1)?.position ?? null) : null }
}

const firstOfMinutes = (events: readonly RecordedEvent[]) => {
  const minutes: { minute: number; position: number }[] = []
  for (const { recordedAt, position } of events) {
    const minute = Math.floor(recordedAt / 60_000)
    if (minute > (minutes.at(-1)?.minute ?? -1)) minutes.push({ minute, position })
  }
  return minutes
}

type Counted = { readonly at: number; readonly code: string; readonly count: number; readonly event: RecordedEvent }

const counted = (events: readonly RecordedEvent[]): readonly Counted[] =>
  events.flatMap((event): Counted[] => {
    if (event.type === 'ReadingAccepted') return [{ at: event.recordedAt, code: 'accepted', count: 1, event }]
    if (event.type !== 'ReadingsRefused') return []
    return event.data.counts.map(({ code, count }) => ({ at: event.data.to, code, count, event }))
  })

const minuteCounts = (events: readonly RecordedEvent[], { cellarOf }: AskOptions): readonly MinuteCount[] => {
  const sums = new Map<string, MinuteCount>()
  for (const { at, code, count, event } of counted(events)) {
    const minute = Math.floor(at / 60_000)
    for (const cellar of [cellarOf(event), null]) {
      const name = JSON.stringify([cellar, minute, code])
      sums.set(name, { cellar, minute, code, count: count + (sums.get(name)?.count ?? 0) })
    }
  }
  return [...sums.values()].sort((a, b) => a.minute - b.minute)
}

const hourCounts = (events: readonly RecordedEvent[], { cellarOf }: AskOptions): readonly HourCount[] => {
  const sums = new Map<string, HourCount>()
  for (const { at, code, count, event } of counted(events)) {
    const hour = Math.floor(at / 3_600_000)
    const [key, cellar] = [keyOfEvent(event), cellarOf(event)]
    if (key === null || cellar === null) continue
    const name = JSON.stringify([key, hour, code])
    sums.set(name, { cellar, key, hour, code, count: count + (sums.get(name)?.count ?? 0) })
  }
  return [...sums.values()].sort((a, b) => a.hour - b.hour)
}

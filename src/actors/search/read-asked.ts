import type { RecordedEvent } from '../../domain/events.ts'
import { actorText } from '../../domain/search/event-filter.ts'
import { isEventType } from '../../domain/search/types-of-kind.ts'
import { readPageEventsMax, recordedSkewMsMax } from '../../limits.ts'
import { AskBusy, AskUnusable, type EventPlace, type PlaceFilter } from '../../log/ask-index.ts'
import type { Ask } from '../core.ts'
import type { LogReads } from './patient-reads.ts'
import { positionBefore } from './position-of-instant.ts'
import { type EventFilter, readFiltered } from './read-filtered.ts'

export type AskedLog = {
  readonly log: LogReads
  /** `null`: only the log itself is read. */
  readonly ask: Ask | null
  /** True leaves out single readings. Default: false. */
  readonly isWithoutReadings?: boolean
}

/**
 * Yields the same events as `readFiltered`. Finds them with `ask.db` if no reading can match, so the readings between them are not
 * read. Events that `ask.db` does not have yet are read from the log.
 * @throws Outage, UndecodableEvent
 */
export async function* readAsked(
  { log, ask, isWithoutReadings = false }: AskedLog,
  filter: EventFilter,
  pageEvents: number,
): AsyncGenerator<readonly RecordedEvent[]> {
  const places = ask !== null && (isWithoutReadings || matchesNoReading(filter)) ? placesOf(filter) : null
  let { from } = filter
  try {
    if (ask !== null && places !== null) {
      await ask.upTo()
      const reach = (): number => ask.progress().position ?? -1
      const end = Math.min(reach(), filter.to ?? Number.POSITIVE_INFINITY)
      // If the index is emptied between two pages, places are missing in it until it reaches as far again.
      let laterInRow = 0
      while ((from ?? -1) < end && reach() >= end && laterInRow < readPageEventsMax) {
        const found = await ask.find(places, { direction: 'forwards', from, limit: pageEvents })
        yield await ask.eventsAt(found.places.filter((place) => place.position <= end && isBefore(place, filter.until)))
        from = Math.min(found.lookedTo ?? end, end)
        for (const place of found.places) laterInRow = isLater(place, filter.until) ? laterInRow + 1 : 0
      }
      if (laterInRow >= readPageEventsMax) return
    }
  } catch (error) {
    // The log has all that `ask.db` has.
    if (!(error instanceof AskUnusable || error instanceof AskBusy)) throw error
  }
  if (filter.to !== null && (from ?? -1) >= filter.to) return
  // `readFiltered` finds the instant too, but with many more reads. It reads one stream or key from its streams alone.
  const isOfAnyStream = filter.stream === null && filter.key === null
  if (ask !== null && from === null && filter.since !== null && isOfAnyStream)
    from = await positionBefore(log, filter.since, ask)
  for await (const page of readFiltered(log, { ...filter, from }, pageEvents))
    yield isWithoutReadings ? page.filter((event) => event.type !== 'ReadingAccepted') : page
}

/** `ask.db` has no readings. */
const matchesNoReading = ({ type, kind, actor }: EventFilter): boolean =>
  (type !== null && type !== 'ReadingAccepted') ||
  (kind !== null && kind !== 'readings') ||
  (actor !== null && actor.kind !== 'key')

/**
 * Returns `null` if there is no such type of event. Leaves out `until`: after a clock that was ahead, a search of `ask.db` with it
 * misses events that `readFiltered` finds.
 */
const placesOf = ({ stream, type, kind, actor, cellar, key, since }: EventFilter): PlaceFilter | null => {
  if (type !== null && !isEventType(type)) return null
  return { stream, type, kind, actor: actor === null ? null : actorText(actor), cellar, key, since, until: null }
}

const isBefore = ({ recordedAt }: EventPlace, until: number | null): boolean => until === null || recordedAt < until

/** As in `readFiltered`, a thousand such places in a row end the search. */
const isLater = ({ recordedAt }: EventPlace, until: number | null): boolean =>
  until !== null && recordedAt >= until + recordedSkewMsMax

import type { RecordedEvent } from '../../domain/events.ts'
import { actorText } from '../../domain/search/event-filter.ts'
import { isEventType } from '../../domain/search/types-of-kind.ts'
import { AskBusy, AskUnusable, type PlaceFilter } from '../../log/ask-index.ts'
import type { EventLog } from '../../log/event-log.ts'
import type { Ask } from '../core.ts'
import { positionBefore } from './position-of-instant.ts'
import { type EventFilter, readFiltered } from './read-filtered.ts'

/**
 * Yields the same events as `readFiltered`. Finds them with `ask.db` if no reading can match, so the readings between them are not
 * read. Events that `ask.db` does not have yet are read from the log.
 * @throws Outage, UndecodableEvent
 */
export async function* readAsked(
  { log, ask }: { readonly log: EventLog; readonly ask: Ask | null },
  filter: EventFilter,
  pageEvents: number,
): AsyncGenerator<readonly RecordedEvent[]> {
  const places = ask === null ? null : placesWanted(filter)
  let { from } = filter
  try {
    if (ask !== null && places !== null) {
      await ask.bringUp()
      const reach = (): number => ask.progress().position ?? -1
      const end = Math.min(reach(), filter.to ?? Number.POSITIVE_INFINITY)
      // If the index is emptied between two pages, places are missing in it until it reaches as far again.
      while ((from ?? -1) < end && reach() >= end) {
        const found = await ask.find(places, { direction: 'forwards', from, limit: pageEvents })
        yield await ask.eventsAt(found.places.filter((place) => place.position <= end))
        from = Math.min(found.lookedTo ?? end, end)
      }
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
  yield* readFiltered(log, { ...filter, from }, pageEvents)
}

/** Returns `null` if readings can match, because `ask.db` has no readings. */
const placesWanted = ({ stream, type, kind, actor, cellar, key, since, until }: EventFilter): PlaceFilter | null => {
  const isOfPeople = actor !== null && actor.kind !== 'key'
  const isNoReading =
    (type !== null && type !== 'ReadingAccepted') || (kind !== null && kind !== 'readings') || isOfPeople
  if (!isNoReading || (type !== null && !isEventType(type))) return null
  return { stream, type, kind, actor: actor === null ? null : actorText(actor), cellar, key, since, until }
}

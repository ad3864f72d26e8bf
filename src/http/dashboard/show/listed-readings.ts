import type { PlaceInLog } from '../../../actors/search/events-at.ts'
import { BoundedMap } from '../../../domain/bounded-map.ts'
import type { RecordedEvent } from '../../../domain/events.ts'

/** Readings that pages have read from the log last, and keep: about 600 bytes each. */
const recentReadingsKeptMax = 1_000

type ReadingEvent = RecordedEvent<'ReadingAccepted'>
type ReadPlaces = (places: readonly PlaceInLog[]) => Promise<readonly RecordedEvent[]>

/**
 * Reads the readings that pages list. A live page lists nearly the same readings twice a second, so those that were read last are
 * kept. An event never changes.
 */
export class RecentReadings {
  readonly #kept = new BoundedMap<number, ReadingEvent>(recentReadingsKeptMax)

  /** In the order of `places`, without readings that were purged. `read` reads the events at places. */
  async at(places: readonly PlaceInLog[], read: ReadPlaces): Promise<readonly ReadingEvent[]> {
    const kept = new Map<number, ReadingEvent>()
    for (const { position } of places) {
      const known = this.#kept.get(position)
      if (known !== undefined) kept.set(position, known)
    }
    const missing = places.filter(({ position }) => !kept.has(position))
    for (const event of missing.length === 0 ? [] : await read(missing)) {
      if (event.type !== 'ReadingAccepted') continue
      kept.set(event.position, event)
      this.#kept.set(event.position, event)
    }
    return places.flatMap(({ position }) => kept.get(position) ?? [])
  }
}

import type { PlaceInLog } from '../../../actors/search/events-at.ts'
import { BoundedMap } from '../../../domain/bounded-map.ts'
import type { RecordedEvent } from '../../../domain/events.ts'

/** About 600 bytes each. */
const recentReadingsKeptMax = 1_000

type ReadingEvent = RecordedEvent<'ReadingAccepted'>
type ReadPlaces = (places: readonly PlaceInLog[]) => Promise<readonly RecordedEvent[]>

/**
 * A live page lists nearly the same readings twice a second, and an event never changes. So those that were read last are
 * kept.
 */
export class RecentReadings {
  readonly #kept = new BoundedMap<number, ReadingEvent>(recentReadingsKeptMax)

  /** In the order of `places`, without purged readings. */
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

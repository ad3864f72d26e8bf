import { type LogFilter, matches } from '../../../src/domain/search/event-filter.ts'
import type {
  EventPlace,
  FoldedPlace,
  FoundPlaces,
  HourCount,
  MinuteCount,
  MinutePosition,
  PlacePage,
  RefusalSum,
  SeenRack,
} from '../../../src/log/ask-index.ts'

/** All that an index says, sorted, so that two indexes can be compared. */
export type AskContents = {
  readonly places: readonly FoldedPlace[]
  readonly minutes: readonly MinutePosition[]
  readonly minuteCounts: readonly MinuteCount[]
  readonly hourCounts: readonly HourCount[]
  readonly seen: readonly SeenRack[]
}

/** Answers like `ask.db`. */
export class MemoryAskIndex {
  #places = new Map<number, FoldedPlace>()
  #minutes = new Map<number, MinutePosition>()
  #minuteCounts = new Map<string, MinuteCount>()
  #hourCounts = new Map<string, HourCount>()
  #seen = new Map<string, SeenRack>()

  static holding(contents: AskContents): MemoryAskIndex {
    const index = new MemoryAskIndex()
    index.#add(contents)
    return index
  }

  *find(filter: LogFilter, { direction, from, limit }: PlacePage): Generator<void, FoundPlaces> {
    const all = [...this.#places.values()].sort((a, b) => a.position - b.position)
    const ordered = direction === 'forwards' ? all : all.toReversed()
    const isBeyond = (position: number): boolean =>
      from === null || (direction === 'forwards' ? position > from : position < from)
    const places: EventPlace[] = []
    for (const place of ordered) {
      if (!isBeyond(place.position) || !matches(place, filter)) continue
      if (places.length === limit) return { places, lookedTo: places.at(-1)?.position ?? null }
      places.push(place)
      yield
    }
    return { places, lookedTo: null }
  }

  *placesOfId(id: string): Generator<void, readonly EventPlace[]> {
    yield
    return [...this.#places.values()].filter((place) => place.id === id || place.requestId === id)
  }

  placeAt(position: number): EventPlace | null {
    return this.#places.get(position) ?? null
  }

  *minuteCounts(cellar: string | null, from: number, to: number): Generator<void, readonly MinuteCount[]> {
    yield
    const counts = [...this.#minuteCounts.values()].filter((one) => one.cellar === cellar)
    return counts.filter(({ minute }) => minute >= from && minute < to).sort((a, b) => a.minute - b.minute)
  }

  *hourCounts(key: string, from: number, to: number): Generator<void, readonly HourCount[]> {
    yield
    const counts = [...this.#hourCounts.values()].filter((one) => one.key === key)
    return counts.filter(({ hour }) => hour >= from && hour < to).sort((a, b) => a.hour - b.hour)
  }

  *refusalsOfCellar(cellar: string, fromHour: number, limit: number): Generator<void, readonly RefusalSum[]> {
    yield
    const sums = new Map<string, RefusalSum>()
    for (const { hour, ...one } of this.#hourCounts.values()) {
      if (one.cellar !== cellar || one.code === 'accepted' || hour < fromHour) continue
      const name = `${one.key} ${one.code}`
      sums.set(name, { ...one, count: one.count + (sums.get(name)?.count ?? 0) })
    }
    return [...sums.values()].sort((a, b) => b.count - a.count).slice(0, limit)
  }

  *keysOfRack(wanted: string, keys: readonly string[]): Generator<void, readonly SeenRack[]> {
    yield
    const found = [...this.#seen.values()].filter(({ rack, key }) => rack === wanted && keys.includes(key))
    return found.sort((a, b) => b.minute - a.minute)
  }

  positionOfMinute(minute: number): MinutePosition | null {
    const rows = [...this.#minutes.values()].filter((row) => row.minute <= minute)
    return rows.sort((a, b) => a.minute - b.minute).at(-1) ?? null
  }

  #add(added: AskContents): void {
    for (const place of added.places) this.#places.set(place.position, place)
    for (const minute of added.minutes) this.#minutes.set(minute.minute, minute)
    for (const count of added.minuteCounts) this.#addMinute(count, count.count)
    for (const count of added.hourCounts) {
      const name = `${count.key} ${count.hour} ${count.code}`
      this.#hourCounts.set(name, { ...count, count: count.count + (this.#hourCounts.get(name)?.count ?? 0) })
    }
    for (const seen of added.seen) {
      const name = JSON.stringify([seen.key, seen.rack])
      if ((this.#seen.get(name)?.minute ?? -1) < seen.minute) this.#seen.set(name, seen)
    }
  }

  #addMinute(of: MinuteCount, difference: number): void {
    const name = JSON.stringify([of.cellar, of.minute, of.code])
    const count = difference + (this.#minuteCounts.get(name)?.count ?? 0)
    if (count > 0) this.#minuteCounts.set(name, { ...of, count })
    else this.#minuteCounts.delete(name)
  }
}

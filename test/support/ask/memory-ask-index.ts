import { type LogFilter, matches } from '../../../src/domain/search/event-filter.ts'
import type {
  EventPlace,
  FoldedPlace,
  FoundPlaces,
  HourCount,
  KeyDay,
  KeyDaysWanted,
  KeyLoads,
  KeyLoadsWanted,
  MinuteCount,
  MinutePosition,
  PlacePage,
  RacksOfKeys,
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
    for (const { hour, busiest: _, ...one } of this.#hourCounts.values()) {
      if (one.cellar !== cellar || one.code === 'accepted' || hour < fromHour) continue
      const name = `${one.key} ${one.code}`
      sums.set(name, { ...one, count: one.count + (sums.get(name)?.count ?? 0) })
    }
    return [...sums.values()].sort((a, b) => b.count - a.count).slice(0, limit)
  }

  *keyLoads({ fromHour, todayHour, cellar }: KeyLoadsWanted): Generator<void, KeyLoads> {
    yield
    const counts = [...this.#hourCounts.values()].filter(
      ({ code, hour, ...one }) =>
        hour >= ((code === 'accepted' ? fromHour : todayHour) ?? Number.POSITIVE_INFINITY) &&
        (cellar === null || one.cellar === cellar),
    )
    const keyIds = [...new Set(counts.map(({ key }) => key))]
    const busiest = new Uint32Array(keyIds.length)
    const refusedToday = new Uint32Array(keyIds.length)
    for (const [at, keyId] of keyIds.entries())
      for (const one of counts.filter(({ key }) => key === keyId)) {
        busiest[at] = Math.max(busiest[at] ?? 0, one.busiest)
        if (one.code !== 'accepted') refusedToday[at] = (refusedToday[at] ?? 0) + one.count
      }
    return { keyIds: keyIds.join('\n'), busiest, refusedToday }
  }

  *keyDays({ keyIds, fromHour, toHour }: KeyDaysWanted): Generator<void, readonly KeyDay[]> {
    yield
    return keyIds.map((keyId) => {
      const counts = [...this.#hourCounts.values()].filter(({ key }) => key === keyId)
      const hours = Array.from({ length: toHour - fromHour }, (_, at) =>
        counts.filter(({ hour }) => hour === fromHour + at),
      )
      const sumOf = (of: readonly HourCount[], isAccepted: boolean): number =>
        of.reduce((sum, { code, count }) => ((code === 'accepted') === isAccepted ? sum + count : sum), 0)
      const racks = [...this.#seen.values()].filter(({ key }) => key === keyId)
      return {
        keyId,
        accepted: hours.map((of) => sumOf(of, true)),
        refused: hours.map((of) => sumOf(of, false)),
        busiest: Math.max(0, ...hours.flat().map(({ busiest }) => busiest)),
        racks: racks.toSorted((a, b) => b.minute - a.minute || (a.rack < b.rack ? -1 : 1)).slice(0, 3),
        racksTotal: racks.length,
      }
    })
  }

  *racksOfKeys(keyIds: readonly string[]): Generator<void, RacksOfKeys> {
    yield
    const racks = keyIds.flatMap((keyId) =>
      [...this.#seen.values()].filter(({ key }) => key === keyId).sort((a, b) => (a.rack < b.rack ? -1 : 1)),
    )
    return { racks, isCut: false, seenFromMinute: null }
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
    for (const count of added.hourCounts) this.#hourCounts.set(`${count.key} ${count.hour} ${count.code}`, count)
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

import type { FoldedTo } from '../../../src/domain/log-reference.ts'
import { type LogFilter, matches } from '../../../src/domain/search/event-filter.ts'
import { askHoursKeptMs, askMinutesKeptMs } from '../../../src/limits.ts'
import {
  type AskChange,
  type AskIndex,
  AskUnusable,
  type EventPlace,
  type FoldedPlace,
  type Forgotten,
  type FoundPlaces,
  type HourCount,
  type MinuteCount,
  type MinutePosition,
  type PlacePage,
  type RefusalSum,
  type SeenRack,
} from '../../../src/log/ask-index.ts'

/** All that an index says, sorted, so that two indexes can be compared. */
export type AskContents = {
  readonly places: readonly FoldedPlace[]
  readonly minutes: readonly MinutePosition[]
  readonly minuteCounts: readonly MinuteCount[]
  readonly hourCounts: readonly HourCount[]
  readonly seen: readonly SeenRack[]
}

/** Keeps every promise of `AskIndex`, but is lost when the process ends. */
export class MemoryAskIndex implements AskIndex {
  foldedTo: FoldedTo | null = null
  /** Each call of `write` takes the first of these faults. */
  faults: Error[] = []
  /** Each call of `open` takes the first of these faults. */
  openFaults: Error[] = []
  /** A write waits for this promise. */
  held: Promise<void> = Promise.resolve()
  /** A check then finds damage. */
  isDamaged = false
  writes: AskChange[] = []
  beginnings = 0
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

  async open(): Promise<void> {
    const fault = this.openFaults.shift()
    if (fault !== undefined) throw fault
  }

  async write(change: AskChange): Promise<void> {
    await this.held
    const fault = this.faults.shift()
    if (fault !== undefined) throw fault
    const position = this.foldedTo?.position ?? null
    if (change.foldedFrom !== position)
      throw new AskUnusable(`The change begins at ${change.foldedFrom}, not ${position}`)
    this.writes.push(change)
    this.#add(change)
    for (const forgotten of change.forgotten) this.#forget(forgotten)
    this.#deleteOld(change.nowMs)
    this.foldedTo = change.foldedTo
  }

  async check(): Promise<void> {
    if (this.isDamaged) await this.startAnew()
    this.isDamaged = false
  }

  async startAnew(): Promise<void> {
    this.beginnings += 1
    this.foldedTo = null
    this.#places = new Map()
    this.#minutes = new Map()
    this.#minuteCounts = new Map()
    this.#hourCounts = new Map()
    this.#seen = new Map()
  }

  contents(): AskContents {
    return {
      places: sorted(this.#places.values()),
      minutes: sorted(this.#minutes.values()),
      minuteCounts: sorted(this.#minuteCounts.values()),
      hourCounts: sorted(this.#hourCounts.values()),
      seen: sorted(this.#seen.values()),
    }
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

  *placesOfId(id: string): ReturnType<AskIndex['placesOfId']> {
    yield
    return [...this.#places.values()].filter((place) => place.id === id || place.requestId === id)
  }

  placeAt(position: number): EventPlace | null {
    return this.#places.get(position) ?? null
  }

  *minuteCounts(cellar: string | null, from: number, to: number): ReturnType<AskIndex['minuteCounts']> {
    yield
    const counts = [...this.#minuteCounts.values()].filter((one) => one.cellar === cellar)
    return counts.filter(({ minute }) => minute >= from && minute < to).sort((a, b) => a.minute - b.minute)
  }

  *hourCounts(key: string, from: number, to: number): ReturnType<AskIndex['hourCounts']> {
    yield
    const counts = [...this.#hourCounts.values()].filter((one) => one.key === key)
    return counts.filter(({ hour }) => hour >= from && hour < to).sort((a, b) => a.hour - b.hour)
  }

  *refusalsOfCellar(cellar: string, fromHour: number, limit: number): ReturnType<AskIndex['refusalsOfCellar']> {
    yield
    const sums = new Map<string, RefusalSum>()
    for (const { hour, ...one } of this.#hourCounts.values()) {
      if (one.cellar !== cellar || one.code === 'accepted' || hour < fromHour) continue
      const name = `${one.key} ${one.code}`
      sums.set(name, { ...one, count: one.count + (sums.get(name)?.count ?? 0) })
    }
    return [...sums.values()].sort((a, b) => b.count - a.count).slice(0, limit)
  }

  *racksLike(pattern: RegExp, limit: number): ReturnType<AskIndex['racksLike']> {
    yield
    const racks = [...this.#seen.values()].filter(({ rack }) => pattern.test(rack))
    return racks.sort((a, b) => b.minute - a.minute).slice(0, limit)
  }

  *seenRacks(key: string, limit: number): ReturnType<AskIndex['seenRacks']> {
    yield
    const racks = [...this.#seen.values()].filter((one) => one.key === key)
    return racks.sort((a, b) => b.minute - a.minute).slice(0, limit)
  }

  positionOfMinute(minute: number): MinutePosition | null {
    const rows = [...this.#minutes.values()].filter((row) => row.minute <= minute)
    return rows.sort((a, b) => a.minute - b.minute).at(-1) ?? null
  }

  async close(): Promise<void> {}

  #add(added: Pick<AskChange, keyof AskContents>): void {
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

  #forget({ stream, keptFrom, counts }: Forgotten): void {
    for (const [position, place] of this.#places) {
      if (place.stream === stream && place.revision < keptFrom) this.#places.delete(position)
    }
    if (counts === null) return
    const { what, key, cellar, beforeMs } = counts
    const isOfWhat = (code: string): boolean => (code === 'accepted') === (what === 'accepted')
    for (const [name, one] of this.#hourCounts) {
      if (one.key === key && one.hour < beforeMs / 3_600_000 && isOfWhat(one.code)) this.#hourCounts.delete(name)
    }
    for (const one of [...this.#minuteCounts.values()]) {
      if (one.cellar !== cellar || one.minute >= beforeMs / 60_000 || !isOfWhat(one.code)) continue
      this.#addMinute(one, -one.count)
      this.#addMinute({ ...one, cellar: null }, -one.count)
    }
    if (what !== 'accepted') return
    for (const [name, one] of this.#seen) {
      if (one.key === key && one.minute < beforeMs / 60_000) this.#seen.delete(name)
    }
  }

  #deleteOld(nowMs: number): void {
    const minute = Math.floor((nowMs - askMinutesKeptMs) / 60_000)
    const hour = Math.floor((nowMs - askHoursKeptMs) / 3_600_000)
    for (const [name, one] of this.#minuteCounts) if (one.minute < minute) this.#minuteCounts.delete(name)
    for (const [name, one] of this.#hourCounts) if (one.hour < hour) this.#hourCounts.delete(name)
  }
}

const sorted = <T>(rows: Iterable<T>): readonly T[] =>
  [...rows].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))

/**
 * Folding a reading must cost almost nothing, so counts are added up in memory until the next flush. The counters of keys
 * are kept for the flush after that, because new ones each time would be garbage.
 */

import { hourOf, minuteOf } from '../../domain/calendar.ts'
import type { RecordedEvent } from '../../domain/events.ts'
import { isBatch, type Name } from '../../domain/reading/columns.ts'
import { isRun, type LogItem, type RecordedRun } from '../../domain/reading/recorded-run.ts'
import { keyOfEvent } from '../../domain/search/event-filter.ts'
import { keyIdOf, readingsStream } from '../../domain/stream-names.ts'
import type { CountCode, FoldedPlace, MinuteCount, MinutePosition, SeenRack } from '../../log/ask-index.ts'
import { type CellarNames, placeOf } from '../../log/event-place.ts'
import { BusyMinutes, type FoldedHour, noMinutes } from './busy-minutes.ts'
import type { Forgotten } from './purged-counts.ts'

/** The place of an event takes as much memory as this number of other entries, and counts as that many entries. */
const askPlaceEntries = 8
/** Keys whose counters the node keeps from one change of `ask.db` to the next: about 200 bytes each. */
export const askKeysKeptMax = 16_384
/** Counts of cellars are kept for each minute of this time. */
export const askMinutesKeptMs = 48 * 3_600_000
/** Counts of keys are kept for each hour of this time. */
export const askHoursKeptMs = 30 * 24 * 3_600_000

/** By code, then by minute. */
type Counts = Map<CountCode, Map<number, number>>

/** There can be 10,000 such objects, so they are small. */
type OfKey = {
  readonly keyId: string
  readonly cellar: string | null
  readonly ofCellar: Counts
  hour: number
  accepted: number
  readonly minutes: BusyMinutes
  /** The last minute of each rack since the last flush. `null`: none was seen. */
  racks: Map<string, number> | null
}

type Lists = {
  readonly places: FoldedPlace[]
  readonly minutes: MinutePosition[]
  readonly hourCounts: FoldedHour[]
  readonly seen: OfKey[]
  readonly forgotten: Forgotten[]
}

/** What the next flush writes. Counts are added to what the file has. */
export type Folded = Omit<Lists, 'seen'> & {
  readonly minuteCounts: readonly MinuteCount[]
  readonly seen: Iterable<SeenRack>
}

export class AskFold {
  readonly #cellars: CellarNames
  #lastMinute: number
  /** The next flush would delete counts from before these times. */
  #countedFromMs = { minutes: 0, hours: 0 }
  #entries = 0
  #lists: Lists = noLists()
  #keys = new Map<string, OfKey>()
  #cellarCounts = new Map<string, Counts>()
  readonly #allCounts: Counts = new Map()
  #last: OfKey | null = null

  /** `lastMinute` is the latest minute of all events that are in the file, or -1. */
  constructor(cellars: CellarNames, lastMinute: number) {
    this.#cellars = cellars
    this.#lastMinute = lastMinute
  }

  /** About how many rows the next flush writes. */
  get entries(): number {
    return this.#entries
  }

  fold(items: readonly LogItem[]): void {
    for (const item of items) this.#foldOne(item)
  }

  take(nowMs: number): Folded {
    const minuteCounts = this.#takeMinuteCounts()
    for (const key of this.#keys.values()) this.#takeHour(key)
    const { seen, ...lists } = this.#lists
    const taken = { ...lists, minuteCounts, seen: takeSeen(seen) }
    this.#entries = 0
    this.#lists = noLists()
    if (this.#keys.size > askKeysKeptMax) this.#forgetKeys()
    this.#countedFromMs = { minutes: nowMs - askMinutesKeptMs, hours: nowMs - askHoursKeptMs }
    return taken
  }

  #forgetKeys(): void {
    this.#keys = new Map()
    this.#cellarCounts = new Map()
    this.#last = null
  }

  #foldOne(item: LogItem): void {
    const minute = minuteOf(item.recordedAt)
    if (minute > this.#lastMinute) {
      this.#lastMinute = minute
      this.#lists.minutes.push({ minute, position: item.position })
      this.#entries += 1
    }
    if (isRun(item)) this.#foldRun(item)
    else if (item.type === 'ReadingAccepted') this.#foldReading(item)
    else this.#foldOther(item)
  }

  #foldRun({ run }: RecordedRun): void {
    const { recordedAt, requests, count } = run
    const key = this.#keyOf(run.keyId)
    this.#accept(key, recordedAt, count)
    const minute = minuteOf(recordedAt)
    for (const { readings } of requests) {
      if (!isBatch(readings)) {
        this.#see(key, readings.rack, minute)
        continue
      }
      let last: Name | undefined
      for (let index = 0; index < readings.count; index += 1) {
        const rack = readings.racks[index]
        if (rack === undefined || rack === last) continue
        last = rack
        this.#see(key, rack.text, minute)
      }
    }
  }

  #foldReading({ stream, recordedAt, data }: RecordedEvent<'ReadingAccepted'>): void {
    const key = this.#keyOf(keyIdOf(stream))
    this.#accept(key, recordedAt, 1)
    this.#see(key, data.rack, minuteOf(recordedAt))
  }

  #foldOther(event: RecordedEvent): void {
    const { id, metadata } = event
    this.#lists.places.push({ ...placeOf(event, this.#cellars), id, requestId: metadata.requestId })
    this.#entries += askPlaceEntries
    if (event.type === 'ReadingsRefused') this.#refuse(event)
    const forgotten = forgottenBy(event, this.#cellars)
    if (forgotten === null) return
    this.#lists.forgotten.push(forgotten)
    this.#entries += 1
  }

  #accept(key: OfKey, recordedAt: number, count: number): void {
    const { minutes, hours } = this.#countedFromMs
    const minute = minuteOf(recordedAt)
    if (recordedAt >= hours) this.#acceptInHour(key, minute, count)
    if (recordedAt < minutes) return
    this.#addMinute(key.ofCellar, 'accepted', { minute, count })
    this.#addMinute(this.#allCounts, 'accepted', { minute, count })
  }

  #acceptInHour(key: OfKey, minute: number, count: number): void {
    const hour = Math.floor(minute / 60)
    if (key.hour !== hour) this.#takeHour(key)
    if (key.accepted === 0) this.#entries += 1
    key.hour = hour
    key.accepted += count
    key.minutes.add(minute - 60 * hour, count)
  }

  #takeHour(key: OfKey): void {
    const { hour, accepted: count } = key
    if (count > 0) this.#addHour(key, { hour, code: 'accepted', count, minutes: key.minutes.take() })
    key.accepted = 0
  }

  /** An hour of a key can be added twice, because the file adds up the counts. */
  #addHour({ keyId, cellar }: OfKey, count: Omit<FoldedHour, 'key' | 'cellar'>): void {
    if (cellar !== null) this.#lists.hourCounts.push({ cellar, key: keyId, ...count })
  }

  /** Refusals count in the minute and the hour of the last of them. The node's own are not of one key or cellar. */
  #refuse(event: RecordedEvent<'ReadingsRefused'>): void {
    const { to, counts } = event.data
    const { minutes, hours } = this.#countedFromMs
    const keyId = keyOfEvent(event)
    const key = keyId === null ? null : this.#keyOf(keyId)
    const inMinutes = to < minutes ? [] : [this.#allCounts, ...(key === null ? [] : [key.ofCellar])]
    for (const { code, count } of counts) {
      for (const of of inMinutes) this.#addMinute(of, code, { minute: minuteOf(to), count })
      if (to < hours || key === null) continue
      this.#addHour(key, { hour: hourOf(to), code, count, minutes: noMinutes })
      this.#entries += 1
    }
  }

  #addMinute(to: Counts, code: CountCode, { minute, count }: Pick<MinuteCount, 'minute' | 'count'>): void {
    const minutes = to.get(code) ?? new Map<number, number>()
    to.set(code, minutes)
    const before = minutes.get(minute)
    if (before === undefined) this.#entries += 1
    minutes.set(minute, (before ?? 0) + count)
  }

  #see(key: OfKey, rack: string, minute: number): void {
    if (key.racks === null) {
      key.racks = new Map()
      this.#lists.seen.push(key)
    }
    const known = key.racks.get(rack)
    if (known !== undefined && known >= minute) return
    key.racks.set(rack, minute)
    if (known === undefined) this.#entries += 1
  }

  #keyOf(keyId: string): OfKey {
    if (this.#last?.keyId === keyId) return this.#last
    const key = this.#keys.get(keyId) ?? this.#newKey(keyId)
    this.#last = key
    return key
  }

  #newKey(keyId: string): OfKey {
    const cellar = this.#cellars.ofKey(keyId)
    // Nobody takes the counts of an unknown cellar.
    const ofCellar: Counts = cellar === null ? new Map() : this.#countsOf(cellar)
    const key: OfKey = { keyId, cellar, ofCellar, hour: 0, accepted: 0, minutes: new BusyMinutes(), racks: null }
    // A key without a cellar is not kept: its cellar may be known later.
    if (cellar !== null) this.#keys.set(keyId, key)
    return key
  }

  #countsOf(cellar: string): Counts {
    const known = this.#cellarCounts.get(cellar)
    if (known !== undefined) return known
    const counts: Counts = new Map()
    this.#cellarCounts.set(cellar, counts)
    return counts
  }

  #takeMinuteCounts(): readonly MinuteCount[] {
    const taken: MinuteCount[] = []
    for (const [cellar, counts] of [[null, this.#allCounts] as const, ...this.#cellarCounts]) {
      for (const [code, minutes] of counts)
        for (const [minute, count] of minutes) taken.push({ cellar, minute, code, count })
      counts.clear()
    }
    return taken
  }
}

/** One by one when they are written, because there can be thousands. */
function* takeSeen(keys: readonly OfKey[]): Generator<SeenRack> {
  for (const key of keys) {
    const { racks } = key
    key.racks = null
    for (const [rack, minute] of racks ?? []) yield { key: key.keyId, rack, minute }
  }
}

const noLists = (): Lists => ({ places: [], minutes: [], hourCounts: [], seen: [], forgotten: [] })

const forgottenBy = (event: RecordedEvent, cellars: CellarNames): Forgotten | null => {
  if (event.type === 'ReadingsPurged') {
    const { keyId: key, cellar, lastRevision, acceptedBefore: beforeMs } = event.data
    const counts = { what: 'accepted', key, cellar, beforeMs } as const
    return { stream: readingsStream(key), keptFrom: lastRevision + 1, counts }
  }
  if (event.type !== 'RecordsPurged') return null
  const { stream, data } = event
  const key = keyOfEvent(event)
  const cellar = key === null ? null : cellars.ofKey(key)
  const counts =
    key === null || cellar === null ? null : ({ what: 'refused', key, cellar, beforeMs: data.recordedBefore } as const)
  // The purge event itself is never deleted with the others.
  return { stream, keptFrom: Math.min(data.lastRevision + 1, event.revision), counts }
}

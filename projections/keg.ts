import { dayMs, dayOf } from '../src/domain/calendar.ts'
import { secondText } from '../src/domain/calendar.ts'
import { nanosecondsPastMs } from '../src/domain/reading/timestamp.ts'
import { latestPerKegMax, pointsPerKegMax } from '../src/limits.ts'
import { firstOf, type KegBlock, type KegMemory } from './keg-memory.ts'
import type { AcceptedReading, KegLatest } from './queries.ts'
import type { RecordReader, RecordWriter } from './records.ts'

/** Which key's readings a keg's latest came with. Shared by all of them. */
export type Source = { readonly number: number; readonly stream: string; readonly keyId: string }

/** What the numbers of a keg are, in their order; those of its latest reading mean nothing while it has none. */
const latestMs = 0
const latestRevision = 1
const latestPosition = 2
const latestRecordedAt = 3
const latestValue = 4
/** Or `none`. */
const latestRepeatOf = 5
/** The highest timestamp of all its points, those forgotten too, ms. */
const newestMs = 6
/** How many points are remembered, and where the next one goes. */
const pointCount = 7
const nextPoint = 8
/** When its last reading was accepted, ms. */
const lastAccepted = 9
/** Then, for each point, its value and its timestamp's ms. */
const points = 10
const numbersPerPoint = 2
/** Then, for each point, the day on which it was accepted, in two bytes: enough until the year 2149. */
const days = points + pointsPerKegMax * numbersPerPoint
const daysPerNumber = 4

export const numbersPerKeg = days + pointsPerKegMax / daysPerNumber

const none = -1

/** What may be the latest reading of a keg. */
type Latest = {
  readonly source: Source
  readonly timestamp: string
  readonly timestampMs: number
  readonly revision: number
  readonly position: number
  readonly recordedAt: number
  readonly value: number
  readonly repeatOf: number | null
}

/**
 * One keg of one cellar: its latest reading and its last points. There may be 100,000 of them for ever, so each is one
 * small object and its share of a block of numbers, and what is shown is made of them when it is asked for.
 *
 * Points are kept in order of the days on which they were accepted, so that the same ones are left whether what was purged
 * had been folded or not.
 */
export class Keg {
  readonly rack: string
  readonly keg: string
  /** Neighbours in the order of use, which `Kegs` keeps. */
  older: Keg | null
  newer: Keg | null
  /** Position of the last reading: the order of use. */
  usedPosition: number
  /** The last checkpoint that has it, or was begun before it was there. */
  savedIn: number
  /** Where its numbers are. */
  readonly place: number
  readonly #block: KegBlock
  /** What the points' ms leave out, if that was ever anything. */
  #nanoseconds: Uint32Array | null
  /** Of the latest reading; `null` while there is none. */
  #source: Source | null
  /** Its timestamp as it was sent, if that is not in the contract's own form: then its ms say it, and 100,000 texts are spared. */
  #unusualTimestamp: string | null
  /** Which would be the latest should those before them be purged: accepted on later days, with earlier timestamps. */
  #successors: readonly Latest[]

  constructor(rack: string, keg: string, memory: KegMemory) {
    this.rack = rack
    this.keg = keg
    this.older = null
    this.newer = null
    this.usedPosition = 0
    this.savedIn = 0
    this.place = memory.take()
    this.#block = memory.blockOf(this.place)
    this.#nanoseconds = null
    this.#source = null
    this.#unusualTimestamp = null
    this.#successors = noSuccessors
  }

  get acceptedAt(): number {
    return this.#get(lastAccepted)
  }

  /** Adds a point; answers the day (its beginning, ms) on which the same timestamp and value came before, or `null`. */
  remember(point: {
    readonly recordedAt: number
    readonly value: number
    readonly timestamp: string
    readonly timestampMs: number
  }): number | null {
    const { recordedAt, value, timestampMs } = point
    const nanoseconds = nanosecondsPastMs(point.timestamp)
    // Nearly every reading is newer than all before it, and then there is nothing to look for.
    const isNewest = this.#get(pointCount) === 0 || timestampMs > this.#get(newestMs)
    const repeatOf = isNewest ? null : this.#find(value, timestampMs, nanoseconds)
    if (isNewest) this.#set(newestMs, timestampMs)
    if (recordedAt > this.#get(lastAccepted)) this.#set(lastAccepted, recordedAt)
    this.#add(dayOf(recordedAt), { value, timestampMs, nanoseconds })
    return repeatOf
  }

  /** The latest is the one with the latest timestamp; of two with the same, the one that came later. */
  offerLatest(reading: AcceptedReading, timestampMs: number, source: Source): void {
    const isLatest = this.#source === null || this.#isBefore(reading, timestampMs)
    const later = this.#source === null ? 0 : dayOf(reading.recordedAt) - dayOf(this.#get(latestRecordedAt))
    if (!isLatest && later <= 0) return
    const { timestamp, revision, position, recordedAt, value, repeatOf } = reading
    if (!isLatest || later < 0 || this.#successors.length > 0) {
      this.#placeLatest({ source, timestamp, timestampMs, revision, position, recordedAt, value, repeatOf })
      return
    }
    this.#source = source
    this.#unusualTimestamp = unusual(timestamp)
    this.#set(latestMs, timestampMs)
    this.#set(latestRevision, revision)
    this.#set(latestPosition, position)
    this.#set(latestRecordedAt, recordedAt)
    this.#set(latestValue, value)
    this.#set(latestRepeatOf, repeatOf ?? none)
  }

  /** Whether `show` has anything to show: asked of ten thousand at once. */
  hasLatest(keptFromMs: number): boolean {
    if (this.#source === null) return false
    return (
      this.#get(latestRecordedAt) >= keptFromMs || this.#successors.some(({ recordedAt }) => recordedAt >= keptFromMs)
    )
  }

  /** What of it was accepted at `keptFromMs` or later; `null` while every such reading was ahead of time. */
  show(cellar: string, keptFromMs: number): KegLatest | null {
    const kept = this.#candidates().find(({ recordedAt }) => recordedAt >= keptFromMs)
    if (kept === undefined) return null
    const { rack, keg } = this
    const { source, revision, position, recordedAt, value, timestamp, repeatOf } = kept
    const latest: AcceptedReading = {
      stream: source.stream,
      revision,
      position,
      keyId: source.keyId,
      recordedAt,
      cellar,
      rack,
      keg,
      value,
      timestamp,
      clockSkew: false,
      repeatOf,
    }
    const values: number[] = []
    for (let index = 0; index < this.#get(pointCount); index += 1) {
      const place = this.#placeOf(index)
      if (this.#dayAt(place) * dayMs >= keptFromMs) values.push(this.#get(points + place * numbersPerPoint))
    }
    return { rack, keg, latest, values }
  }

  save(to: RecordWriter): void {
    to.name(this.rack)
    to.name(this.keg)
    to.whole(this.usedPosition)
    to.whole(this.#get(lastAccepted))
    to.list(this.#candidates(), (latest) => writeLatest(to, latest))
    to.signed(this.#get(newestMs))
    to.flag(this.#nanoseconds !== null)
    const count = this.#get(pointCount)
    to.whole(count)
    let beforeMs = this.#get(newestMs)
    let beforeDay = 0
    for (let index = 0; index < count; index += 1) {
      const place = this.#placeOf(index)
      const timestampMs = this.#get(points + place * numbersPerPoint + 1)
      to.whole(this.#dayAt(place) - beforeDay)
      to.float(this.#get(points + place * numbersPerPoint))
      to.signed(timestampMs - beforeMs)
      if (this.#nanoseconds !== null) to.whole(this.#nanoseconds[place] ?? 0)
      beforeMs = timestampMs
      beforeDay = this.#dayAt(place)
    }
  }

  /** Into a keg that has just been made. @throws RangeError if the bytes are not what `save` wrote behind the names. */
  restore(from: RecordReader, sources: readonly Source[]): void {
    this.usedPosition = from.whole()
    this.#set(lastAccepted, from.whole())
    this.#setLatest(from.list(() => readLatest(from, sources)))
    this.#set(newestMs, from.signed())
    if (from.flag()) this.#nanoseconds = new Uint32Array(pointsPerKegMax)
    const count = from.whole()
    let timestampMs = this.#get(newestMs)
    let day = 0
    for (let index = 0; index < count; index += 1) {
      day += from.whole()
      const value = from.float()
      timestampMs += from.signed()
      this.#add(day, { value, timestampMs, nanoseconds: this.#nanoseconds === null ? 0 : from.whole() })
    }
  }

  #get(number: number): number {
    return this.#block.numbers[this.#from + number] ?? 0
  }

  #set(number: number, value: number): void {
    this.#block.numbers[this.#from + number] = value
  }

  /** Where its numbers begin, and where the points' days do. Not kept: with a 13th field a keg takes half as much again. */
  get #from(): number {
    return firstOf(this.place, numbersPerKeg)
  }

  get #firstDay(): number {
    return (this.#from + days) * daysPerNumber
  }

  #dayAt(place: number): number {
    return this.#block.halfwords[this.#firstDay + place] ?? 0
  }

  /** Behind all others, unless some were accepted on later days. With no room the oldest makes way. */
  #add(
    day: number,
    point: { readonly value: number; readonly timestampMs: number; readonly nanoseconds: number },
  ): void {
    const count = this.#get(pointCount)
    const next = this.#get(nextPoint)
    if (count === pointsPerKegMax && day < this.#dayAt(next)) return
    if (count < pointsPerKegMax) this.#set(pointCount, count + 1)
    this.#set(nextPoint, next + 1 === pointsPerKegMax ? 0 : next + 1)
    let place = next
    for (let index = this.#get(pointCount) - 2; index >= 0; index -= 1) {
      const before = this.#placeOf(index)
      if (this.#dayAt(before) <= day) break
      this.#copyPoint(before, place)
      place = before
    }
    this.#set(points + place * numbersPerPoint, point.value)
    this.#set(points + place * numbersPerPoint + 1, point.timestampMs)
    this.#block.halfwords[this.#firstDay + place] = day
    this.#setNanoseconds(place, point.nanoseconds)
  }

  #copyPoint(from: number, to: number): void {
    this.#set(points + to * numbersPerPoint, this.#get(points + from * numbersPerPoint))
    this.#set(points + to * numbersPerPoint + 1, this.#get(points + from * numbersPerPoint + 1))
    this.#block.halfwords[this.#firstDay + to] = this.#dayAt(from)
    this.#setNanoseconds(to, this.#nanoseconds?.[from] ?? 0)
  }

  #setNanoseconds(place: number, nanoseconds: number): void {
    if (nanoseconds !== 0) this.#nanoseconds ??= new Uint32Array(pointsPerKegMax)
    if (this.#nanoseconds !== null) this.#nanoseconds[place] = nanoseconds
  }

  /** Where a point lies: 0 is the oldest. */
  #placeOf(index: number): number {
    const oldest = this.#get(pointCount) < pointsPerKegMax ? 0 : this.#get(nextPoint)
    return (oldest + index) % pointsPerKegMax
  }

  /** The beginning of the last day on which such a point was accepted. */
  #find(value: number, timestampMs: number, nanoseconds: number): number | null {
    const { numbers } = this.#block
    const firstPoint = this.#from + points
    const next = this.#get(nextPoint)
    const count = this.#get(pointCount)
    // From the newest to the oldest, in whose order the days grow too: the first that is met is of the last day.
    for (let back = 1; back <= count; back += 1) {
      const place = back <= next ? next - back : next - back + pointsPerKegMax
      const at = firstPoint + place * numbersPerPoint
      if (numbers[at + 1] !== timestampMs || numbers[at] !== value) continue
      if ((this.#nanoseconds?.[place] ?? 0) === nanoseconds) return this.#dayAt(place) * dayMs
    }
    return null
  }

  /** Whether the latest so far comes before that reading. */
  #isBefore(reading: AcceptedReading, timestampMs: number): boolean {
    const byMs = timestampMs - this.#get(latestMs)
    if (byMs !== 0) return byMs > 0
    const byNanoseconds = nanosecondsPastMs(reading.timestamp) - nanosecondsPastMs(this.#unusualTimestamp ?? '')
    return byNanoseconds === 0 ? reading.position > this.#get(latestPosition) : byNanoseconds > 0
  }

  #placeLatest(latest: Latest): void {
    const before = this.#candidates()
    if (before.some((other) => outlasts(other, latest))) return
    const kept = [...before.filter((other) => !outlasts(latest, other)), latest].sort(byAcceptance)
    // Past the bound the last two become the last one, so that there is always one to show.
    if (kept.length > latestPerKegMax) kept.splice(-2, 1)
    this.#setLatest(kept)
  }

  /** The latest reading and its successors. */
  #candidates(): readonly Latest[] {
    if (this.#source === null) return noSuccessors
    const repeatOf = this.#get(latestRepeatOf)
    const latest: Latest = {
      source: this.#source,
      timestamp: this.#unusualTimestamp ?? secondText(this.#get(latestMs)),
      timestampMs: this.#get(latestMs),
      revision: this.#get(latestRevision),
      position: this.#get(latestPosition),
      recordedAt: this.#get(latestRecordedAt),
      value: this.#get(latestValue),
      repeatOf: repeatOf === none ? null : repeatOf,
    }
    return [latest, ...this.#successors]
  }

  #setLatest([latest, ...successors]: readonly Latest[]): void {
    if (latest === undefined) return
    this.#source = latest.source
    this.#unusualTimestamp = unusual(latest.timestamp)
    this.#set(latestMs, latest.timestampMs)
    this.#set(latestRevision, latest.revision)
    this.#set(latestPosition, latest.position)
    this.#set(latestRecordedAt, latest.recordedAt)
    this.#set(latestValue, latest.value)
    this.#set(latestRepeatOf, latest.repeatOf ?? none)
    this.#successors = successors.length === 0 ? noSuccessors : successors
  }
}

/** Of all that keep the rule (`timestamp.ts`), only `YYYY-MM-DDThh:mm:ssZ` has 20 characters. */
const unusual = (timestamp: string): string | null => (timestamp.length === 20 ? null : timestamp)

/** One for all: nearly no keg has any. */
const noSuccessors: readonly Latest[] = []

const byAcceptance = (a: Latest, b: Latest): number => a.recordedAt - b.recordedAt || a.position - b.position

/** `a` is there on every day that `b` is, and is later: `b` can never be the latest again. */
const outlasts = (a: Latest, b: Latest): boolean => dayOf(a.recordedAt) >= dayOf(b.recordedAt) && isLater(a, b)

const isLater = (a: Latest, b: Latest): boolean => {
  if (a.timestampMs !== b.timestampMs) return a.timestampMs > b.timestampMs
  const difference = nanosecondsPastMs(a.timestamp) - nanosecondsPastMs(b.timestamp)
  return difference === 0 ? a.position > b.position : difference > 0
}

const writeLatest = (to: RecordWriter, latest: Latest): void => {
  to.whole(latest.source.number)
  to.text(latest.timestamp)
  to.signed(latest.timestampMs)
  to.whole(latest.revision)
  to.whole(latest.position)
  to.whole(latest.recordedAt)
  to.float(latest.value)
  to.optional(latest.repeatOf, (dayAtMs) => to.whole(dayAtMs))
}

const readLatest = (from: RecordReader, sources: readonly Source[]): Latest => {
  const number = from.whole()
  const source = sources[number]
  if (source === undefined) throw new RangeError(`a keg names stream ${number}, which is not there`)
  return {
    source,
    timestamp: from.text(),
    timestampMs: from.signed(),
    revision: from.whole(),
    position: from.whole(),
    recordedAt: from.whole(),
    value: from.float(),
    repeatOf: from.optional(() => from.whole()),
  }
}

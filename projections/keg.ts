import { dayMs, dayOf, instantText, secondText } from '../src/domain/calendar.ts'
import { nanosecondsPastMs } from '../src/domain/reading/timestamp.ts'
import { latestPerKegMax, pointsPerKegMax } from '../src/limits.ts'
import type { ArrivingReading } from './arriving-reading.ts'
import {
  byAcceptance,
  formOf,
  type Latest,
  milliseconds,
  noSuccessors,
  otherForm,
  outlasts,
  type Rare,
  readLatest,
  type Source,
  seconds,
  writeLatest,
} from './keg-latest.ts'
import { firstOf, type KegBlock, type KegMemory } from './keg-memory.ts'
import type { AcceptedReading, KegLatest } from './queries.ts'
import type { PieceReader, PieceWriter } from './saved-pieces.ts'

// Each keg has a row of numbers (`KegMemory`). The constants from here on are indexes in this row. Times are in ms.
const latestMs = 0
const latestRevision = 1
const latestPosition = 2
const latestRecordedAt = 3
const latestValue = 4
const latestRepeatOf = 5
/**
 * The highest timestamp of all points (remembered readings), including dropped points. A reading with a higher
 * timestamp cannot repeat any of them.
 */
const newestMs = 6
/** This number of the row holds four small numbers. The constants after it are their places. */
const smallNumbers = 7
const lastUsedPosition = 8
const lastAccepted = 9
/** From these indexes on, the row holds the value and the timestamp of each point. */
const pointValues = 10
const pointTimesMs = pointValues + pointsPerKegMax
/**
 * From this index on, the row holds the day on which each point was accepted. Two bytes for a day are enough until
 * 2149.
 */
const days = pointTimesMs + pointsPerKegMax
const halfwordsPerNumber = 4

const pointCount = 0
/** Where the next point goes. */
const nextPoint = 1
const lastSavedIn = 2
/** The form of the latest reading's timestamp: `seconds`, `milliseconds` or `otherForm`. */
const timestampForm = 3

export const numbersPerKeg = days + pointsPerKegMax / halfwordsPerNumber

const none = -1

/**
 * Holds the latest reading of a keg, and its last points: values with timestamps
 * (docs/decisions/016-memory-of-kegs-and-heap.md). The points form a ring, ordered by the day of acceptance. A purge
 * removes whole days. So a node that never folded the purged readings shows the same points as the other nodes.
 */
export class Keg {
  readonly rack: string
  readonly keg: string
  older: Keg | null
  newer: Keg | null
  readonly row: number
  readonly #block: KegBlock
  #rare: Rare | null
  #source: Source | null

  constructor(rack: string, keg: string, memory: KegMemory) {
    this.rack = rack
    this.keg = keg
    this.older = null
    this.newer = null
    this.row = memory.take()
    this.#block = memory.blockOf(this.row)
    this.#rare = null
    this.#source = null
  }

  /**
   * The number of the last checkpoint that contains this keg. A new keg gets the number of the newest checkpoint. So
   * that checkpoint does not save the keg, which did not exist when the checkpoint began (`KegSaving`).
   */
  get savedIn(): number {
    return this.#small(lastSavedIn)
  }

  set savedIn(checkpoint: number) {
    this.#setSmall(lastSavedIn, checkpoint)
  }

  get usedPosition(): number {
    return this.#get(lastUsedPosition)
  }

  set usedPosition(position: number) {
    this.#set(lastUsedPosition, position)
  }

  get acceptedAt(): number {
    return this.#get(lastAccepted)
  }

  /**
   * Adds a point. If an earlier point has the same timestamp and value, returns the first ms of the day on which that
   * point was accepted. Otherwise returns `null`.
   */
  remember(arriving: ArrivingReading): number | null {
    const { recordedAt, timestampMs } = arriving
    // Nearly every reading has the highest timestamp of its keg. Then no earlier point can be equal, and no search is
    // needed.
    const isNewest = this.#small(pointCount) === 0 || timestampMs > this.#get(newestMs)
    const repeatOf = isNewest ? null : this.#find(arriving)
    if (isNewest) this.#set(newestMs, timestampMs)
    if (recordedAt > this.#get(lastAccepted)) this.#set(lastAccepted, recordedAt)
    this.#add(dayOf(recordedAt), arriving)
    return repeatOf
  }

  /**
   * Keeps the reading if it is the latest, or can become the latest after a purge. The higher position decides between
   * equal timestamps.
   */
  offerLatest(arriving: ArrivingReading, repeatOf: number | null, source: Source): void {
    const isLatest = this.#source === null || this.#isBefore(arriving)
    const later = this.#source === null ? 0 : dayOf(arriving.recordedAt) - dayOf(this.#get(latestRecordedAt))
    if (!isLatest && later <= 0) return
    const { timestampMs, revision, position, recordedAt, value } = arriving
    if (!isLatest || later < 0 || this.#hasSuccessors) {
      const timestamp = arriving.timestamp ?? secondText(timestampMs)
      this.#insertLatest({ source, timestamp, timestampMs, revision, position, recordedAt, value, repeatOf })
      return
    }
    this.#source = source
    this.#keepTimestamp(arriving.timestamp)
    this.#set(latestMs, timestampMs)
    this.#set(latestRevision, revision)
    this.#set(latestPosition, position)
    this.#set(latestRecordedAt, recordedAt)
    this.#set(latestValue, value)
    this.#set(latestRepeatOf, repeatOf ?? none)
  }

  /** True if `show` returns a reading. Must be fast, because one search checks up to 10,000 kegs. */
  hasLatest(keptFromMs: number): boolean {
    if (this.#source === null) return false
    return (
      this.#get(latestRecordedAt) >= keptFromMs ||
      this.#rare?.successors.some(({ recordedAt }) => recordedAt >= keptFromMs) === true
    )
  }

  /**
   * Returns the latest reading and the values, all accepted since `keptFromMs`. Returns `null` if there is no such
   * latest reading. A reading whose timestamp is too far in the future (`clockSkew`) never becomes the latest.
   */
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
    for (let index = 0; index < this.#small(pointCount); index += 1) {
      const ringIndex = this.#ringIndexOf(index)
      if (this.#dayAt(ringIndex) * dayMs >= keptFromMs) values.push(this.#get(pointValues + ringIndex))
    }
    return { rack, keg, latest, values }
  }

  save(to: PieceWriter): void {
    to.name(this.rack)
    to.name(this.keg)
    to.whole(this.usedPosition)
    to.whole(this.#get(lastAccepted))
    to.list(this.#candidates(), (latest) => writeLatest(to, latest))
    to.signed(this.#get(newestMs))
    const nanoseconds = this.#rare?.nanoseconds ?? null
    to.flag(nanoseconds !== null)
    const count = this.#small(pointCount)
    to.whole(count)
    let beforeMs = this.#get(newestMs)
    let beforeDay = 0
    for (let index = 0; index < count; index += 1) {
      const ringIndex = this.#ringIndexOf(index)
      const timestampMs = this.#get(pointTimesMs + ringIndex)
      to.whole(this.#dayAt(ringIndex) - beforeDay)
      to.float(this.#get(pointValues + ringIndex))
      to.signed(timestampMs - beforeMs)
      if (nanoseconds !== null) to.whole(nanoseconds[ringIndex] ?? 0)
      beforeMs = timestampMs
      beforeDay = this.#dayAt(ringIndex)
    }
  }

  restore(from: PieceReader, sources: readonly Source[]): void {
    this.usedPosition = from.whole()
    this.#set(lastAccepted, from.whole())
    this.#setLatest(from.list(() => readLatest(from, sources)))
    this.#set(newestMs, from.signed())
    const hasNanoseconds = from.flag()
    const count = from.whole()
    let timestampMs = this.#get(newestMs)
    let day = 0
    for (let index = 0; index < count; index += 1) {
      day += from.whole()
      const value = from.float()
      timestampMs += from.signed()
      this.#add(day, { value, timestampMs, nanoseconds: hasNanoseconds ? from.whole() : 0 })
    }
  }

  #get(number: number): number {
    return this.#block.numbers[this.#from + number] ?? 0
  }

  #set(number: number, value: number): void {
    this.#block.numbers[this.#from + number] = value
  }

  /**
   * The index of this keg's first number in its block. It is computed each time, because a ninth field would make each
   * `Keg` object 40 % larger.
   */
  get #from(): number {
    return firstOf(this.row, numbersPerKeg)
  }

  #small(place: number): number {
    return this.#block.halfwords[(this.#from + smallNumbers) * halfwordsPerNumber + place] ?? 0
  }

  #setSmall(place: number, value: number): void {
    this.#block.halfwords[(this.#from + smallNumbers) * halfwordsPerNumber + place] = value
  }

  #ofRare(): Rare {
    this.#rare ??= { nanoseconds: null, successors: noSuccessors, timestamp: '' }
    return this.#rare
  }

  /** `null` has the form `seconds`. So 100,000 kegs need no texts in memory. */
  #keepTimestamp(timestamp: string | null): void {
    const form = timestamp === null ? seconds : formOf(timestamp)
    this.#setSmall(timestampForm, form)
    if (form === otherForm && timestamp !== null) this.#ofRare().timestamp = timestamp
  }

  get #latestTimestamp(): string {
    const ms = this.#get(latestMs)
    switch (this.#small(timestampForm)) {
      case seconds:
        return secondText(ms)
      case milliseconds:
        return instantText(ms)
      default:
        return this.#ofRare().timestamp
    }
  }

  get #hasSuccessors(): boolean {
    return this.#rare !== null && this.#rare.successors.length > 0
  }

  get #firstDay(): number {
    return (this.#from + days) * halfwordsPerNumber
  }

  #dayAt(ringIndex: number): number {
    return this.#block.halfwords[this.#firstDay + ringIndex] ?? 0
  }

  /** Adds a point after the points of the same day or earlier days. A full ring drops its oldest point. */
  #add(
    day: number,
    point: { readonly value: number; readonly timestampMs: number; readonly nanoseconds: number },
  ): void {
    const count = this.#small(pointCount)
    const next = this.#small(nextPoint)
    const isFull = count === pointsPerKegMax
    if (isFull && day < this.#dayAt(next)) return
    if (!isFull) this.#setSmall(pointCount, count + 1)
    this.#setSmall(nextPoint, next + 1 === pointsPerKegMax ? 0 : next + 1)
    let ringIndex = next
    for (let earlier = isFull ? count - 1 : count; earlier > 0; earlier -= 1) {
      const before = ringBefore(ringIndex)
      if (this.#dayAt(before) <= day) break
      this.#copyPoint(before, ringIndex)
      ringIndex = before
    }
    this.#set(pointValues + ringIndex, point.value)
    this.#set(pointTimesMs + ringIndex, point.timestampMs)
    this.#block.halfwords[this.#firstDay + ringIndex] = day
    this.#setNanoseconds(ringIndex, point.nanoseconds)
  }

  #copyPoint(from: number, to: number): void {
    this.#set(pointValues + to, this.#get(pointValues + from))
    this.#set(pointTimesMs + to, this.#get(pointTimesMs + from))
    this.#block.halfwords[this.#firstDay + to] = this.#dayAt(from)
    this.#setNanoseconds(to, this.#rare?.nanoseconds?.[from] ?? 0)
  }

  #setNanoseconds(ringIndex: number, nanoseconds: number): void {
    if (nanoseconds === 0 && this.#rare === null) return
    const rare = this.#ofRare()
    if (nanoseconds !== 0) rare.nanoseconds ??= new Uint32Array(pointsPerKegMax)
    if (rare.nanoseconds !== null) rare.nanoseconds[ringIndex] = nanoseconds
  }

  #ringIndexOf(index: number): number {
    const oldest = this.#small(pointCount) < pointsPerKegMax ? 0 : this.#small(nextPoint)
    return (oldest + index) % pointsPerKegMax
  }

  /** Returns the first ms of the day on which an equal point was accepted. Of several equal points, the newest decides. */
  #find({ value, timestampMs, nanoseconds }: ArrivingReading): number | null {
    const { numbers } = this.#block
    const from = this.#from
    const firstTime = from + pointTimesMs
    const count = this.#small(pointCount)
    let ringIndex = this.#small(nextPoint)
    for (let back = 1; back <= count; back += 1) {
      ringIndex = ringBefore(ringIndex)
      if (numbers[firstTime + ringIndex] !== timestampMs || numbers[from + pointValues + ringIndex] !== value) continue
      if ((this.#rare?.nanoseconds?.[ringIndex] ?? 0) === nanoseconds) return this.#dayAt(ringIndex) * dayMs
    }
    return null
  }

  #isBefore({ position, timestampMs, nanoseconds }: ArrivingReading): boolean {
    const byMs = timestampMs - this.#get(latestMs)
    if (byMs !== 0) return byMs > 0
    const hasOtherForm = this.#small(timestampForm) === otherForm
    const byNanoseconds = nanoseconds - (hasOtherForm ? nanosecondsPastMs(this.#ofRare().timestamp) : 0)
    return byNanoseconds === 0 ? position > this.#get(latestPosition) : byNanoseconds > 0
  }

  #insertLatest(latest: Latest): void {
    const before = this.#candidates()
    if (before.some((other) => outlasts(other, latest))) return
    const kept = [...before.filter((other) => !outlasts(latest, other)), latest].sort(byAcceptance)
    // If there are too many readings, the reading before the last is dropped. The reading that was accepted last stays,
    // because a purge removes earlier readings first.
    if (kept.length > latestPerKegMax) kept.splice(-2, 1)
    this.#setLatest(kept)
  }

  #candidates(): readonly Latest[] {
    if (this.#source === null) return noSuccessors
    const repeatOf = this.#get(latestRepeatOf)
    const latest: Latest = {
      source: this.#source,
      timestamp: this.#latestTimestamp,
      timestampMs: this.#get(latestMs),
      revision: this.#get(latestRevision),
      position: this.#get(latestPosition),
      recordedAt: this.#get(latestRecordedAt),
      value: this.#get(latestValue),
      repeatOf: repeatOf === none ? null : repeatOf,
    }
    return [latest, ...(this.#rare?.successors ?? noSuccessors)]
  }

  #setLatest([latest, ...successors]: readonly Latest[]): void {
    if (latest === undefined) return
    this.#source = latest.source
    this.#keepTimestamp(latest.timestamp)
    this.#set(latestMs, latest.timestampMs)
    this.#set(latestRevision, latest.revision)
    this.#set(latestPosition, latest.position)
    this.#set(latestRecordedAt, latest.recordedAt)
    this.#set(latestValue, latest.value)
    this.#set(latestRepeatOf, latest.repeatOf ?? none)
    if (this.#hasSuccessors || successors.length > 0) this.#ofRare().successors = successors
  }
}

const ringBefore = (ringIndex: number): number => (ringIndex === 0 ? pointsPerKegMax : ringIndex) - 1

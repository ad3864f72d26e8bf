import { dayMs, dayOf, secondText } from '../src/domain/calendar.ts'
import { nanosecondsPastMs } from '../src/domain/reading/timestamp.ts'
import { latestPerKegMax, pointsPerKegMax } from '../src/limits.ts'
import type { ArrivingReading } from './arriving-reading.ts'
import { firstOf, type KegBlock, type KegMemory } from './keg-memory.ts'
import type { AcceptedReading, KegLatest } from './queries.ts'
import type { PieceReader, PieceWriter } from './saved-pieces.ts'

export type Source = { readonly number: number; readonly stream: string; readonly keyId: string }

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
const pointCount = 7
const nextPoint = 8
const lastAccepted = 9
/** From these indexes on, the row holds the value and the timestamp of each point. */
const pointValues = 10
const pointTimesMs = pointValues + pointsPerKegMax
/**
 * From this index on, the row holds the day on which each point was accepted. Two bytes for a day are enough until
 * 2149.
 */
const days = pointTimesMs + pointsPerKegMax
const daysPerNumber = 4

export const numbersPerKeg = days + pointsPerKegMax / daysPerNumber

const none = -1

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
 * Holds the latest reading of a keg, and its last points: values with timestamps
 * (docs/decisions/016-memory-of-kegs-and-heap.md). The points form a ring, ordered by the day of acceptance. A purge
 * removes whole days. So a node that never folded the purged readings shows the same points as the other nodes.
 */
export class Keg {
  readonly rack: string
  readonly keg: string
  older: Keg | null
  newer: Keg | null
  usedPosition: number
  /**
   * The number of the last checkpoint that contains this keg. A new keg gets the number of the newest checkpoint. So
   * that checkpoint does not save the keg, which did not exist when the checkpoint began (`KegSaving`).
   */
  savedIn: number
  readonly row: number
  readonly #block: KegBlock
  /** For each point, the nanoseconds of its timestamp that the ms do not include. `null` if all are zero. */
  #nanoseconds: Uint32Array | null
  #source: Source | null
  /**
   * The timestamp of the latest reading, as the device sent it. `null` if `secondText` can make the same text again. So
   * 100,000 kegs need no texts in memory.
   */
  #unusualTimestamp: string | null
  /**
   * Readings that were accepted on later days than the latest reading, but have earlier timestamps. When a purge
   * removes the latest reading, one of these becomes the latest.
   */
  #successors: readonly Latest[]

  constructor(rack: string, keg: string, memory: KegMemory) {
    this.rack = rack
    this.keg = keg
    this.older = null
    this.newer = null
    this.usedPosition = 0
    this.savedIn = 0
    this.row = memory.take()
    this.#block = memory.blockOf(this.row)
    this.#nanoseconds = null
    this.#source = null
    this.#unusualTimestamp = null
    this.#successors = noSuccessors
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
    const isNewest = this.#get(pointCount) === 0 || timestampMs > this.#get(newestMs)
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
    if (!isLatest || later < 0 || this.#successors.length > 0) {
      const timestamp = arriving.timestamp ?? secondText(timestampMs)
      this.#insertLatest({ source, timestamp, timestampMs, revision, position, recordedAt, value, repeatOf })
      return
    }
    this.#source = source
    this.#unusualTimestamp = arriving.timestamp === null ? null : unusual(arriving.timestamp)
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
      this.#get(latestRecordedAt) >= keptFromMs || this.#successors.some(({ recordedAt }) => recordedAt >= keptFromMs)
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
    for (let index = 0; index < this.#get(pointCount); index += 1) {
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
    to.flag(this.#nanoseconds !== null)
    const count = this.#get(pointCount)
    to.whole(count)
    let beforeMs = this.#get(newestMs)
    let beforeDay = 0
    for (let index = 0; index < count; index += 1) {
      const ringIndex = this.#ringIndexOf(index)
      const timestampMs = this.#get(pointTimesMs + ringIndex)
      to.whole(this.#dayAt(ringIndex) - beforeDay)
      to.float(this.#get(pointValues + ringIndex))
      to.signed(timestampMs - beforeMs)
      if (this.#nanoseconds !== null) to.whole(this.#nanoseconds[ringIndex] ?? 0)
      beforeMs = timestampMs
      beforeDay = this.#dayAt(ringIndex)
    }
  }

  restore(from: PieceReader, sources: readonly Source[]): void {
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

  /**
   * The index of this keg's first number in its block. It is computed each time, because a 13th field would make each
   * `Keg` object 50 % larger.
   */
  get #from(): number {
    return firstOf(this.row, numbersPerKeg)
  }

  get #firstDay(): number {
    return (this.#from + days) * daysPerNumber
  }

  #dayAt(ringIndex: number): number {
    return this.#block.halfwords[this.#firstDay + ringIndex] ?? 0
  }

  /**
   * Adds a point after the points of the same day or earlier days. A full ring drops its oldest point. `| 0` tells the
   * engine that a number of the row is an integer. Without it, an index takes twice as long.
   */
  #add(
    day: number,
    point: { readonly value: number; readonly timestampMs: number; readonly nanoseconds: number },
  ): void {
    const count = this.#get(pointCount) | 0
    const next = this.#get(nextPoint) | 0
    const isFull = count === pointsPerKegMax
    if (isFull && day < this.#dayAt(next)) return
    if (!isFull) this.#set(pointCount, count + 1)
    this.#set(nextPoint, next + 1 === pointsPerKegMax ? 0 : next + 1)
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
    this.#setNanoseconds(to, this.#nanoseconds?.[from] ?? 0)
  }

  #setNanoseconds(ringIndex: number, nanoseconds: number): void {
    if (nanoseconds !== 0) this.#nanoseconds ??= new Uint32Array(pointsPerKegMax)
    if (this.#nanoseconds !== null) this.#nanoseconds[ringIndex] = nanoseconds
  }

  #ringIndexOf(index: number): number {
    const oldest = this.#get(pointCount) < pointsPerKegMax ? 0 : this.#get(nextPoint)
    return (oldest + index) % pointsPerKegMax
  }

  /** Returns the first ms of the day on which an equal point was accepted. Of several equal points, the newest decides. */
  #find({ value, timestampMs, nanoseconds }: ArrivingReading): number | null {
    const { numbers } = this.#block
    const from = this.#from
    const firstTime = from + pointTimesMs
    const count = this.#get(pointCount) | 0
    let ringIndex = this.#get(nextPoint) | 0
    for (let back = 1; back <= count; back += 1) {
      ringIndex = ringBefore(ringIndex)
      if (numbers[firstTime + ringIndex] !== timestampMs || numbers[from + pointValues + ringIndex] !== value) continue
      if ((this.#nanoseconds?.[ringIndex] ?? 0) === nanoseconds) return this.#dayAt(ringIndex) * dayMs
    }
    return null
  }

  #isBefore({ position, timestampMs, nanoseconds }: ArrivingReading): boolean {
    const byMs = timestampMs - this.#get(latestMs)
    if (byMs !== 0) return byMs > 0
    const byNanoseconds = nanoseconds - nanosecondsPastMs(this.#unusualTimestamp ?? '')
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

/**
 * Returns `null` for `YYYY-MM-DDThh:mm:ssZ`, because `secondText` can make this text again. It is the only valid form
 * with 20 characters.
 */
const unusual = (timestamp: string): string | null => (timestamp.length === 20 ? null : timestamp)

const ringBefore = (ringIndex: number): number => (ringIndex === 0 ? pointsPerKegMax : ringIndex) - 1

const noSuccessors: readonly Latest[] = []

const byAcceptance = (a: Latest, b: Latest): number => a.recordedAt - b.recordedAt || a.position - b.position

/**
 * True if `a` has the later timestamp, and no purge removes `a` before `b`. Then `b` can never be the latest reading.
 */
const outlasts = (a: Latest, b: Latest): boolean => dayOf(a.recordedAt) >= dayOf(b.recordedAt) && isLater(a, b)

const isLater = (a: Latest, b: Latest): boolean => {
  if (a.timestampMs !== b.timestampMs) return a.timestampMs > b.timestampMs
  const difference = nanosecondsPastMs(a.timestamp) - nanosecondsPastMs(b.timestamp)
  return difference === 0 ? a.position > b.position : difference > 0
}

const writeLatest = (to: PieceWriter, latest: Latest): void => {
  to.whole(latest.source.number)
  to.text(latest.timestamp)
  to.signed(latest.timestampMs)
  to.whole(latest.revision)
  to.whole(latest.position)
  to.whole(latest.recordedAt)
  to.float(latest.value)
  to.optional(latest.repeatOf, (dayAtMs) => to.whole(dayAtMs))
}

const readLatest = (from: PieceReader, sources: readonly Source[]): Latest => {
  const number = from.whole()
  const source = sources[number]
  if (source === undefined) throw new RangeError(`a keg refers to stream ${number}, which does not exist`)
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

import { nanosecondsPastMs } from '../src/domain/timestamp-fraction.ts'
import { pointsPerKegMax } from '../src/limits.ts'
import type { KegMemory } from './keg-memory.ts'
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
const latestIsRepeat = 5
/** The highest timestamp of all its points, those forgotten too, ms. */
const newestMs = 6
/** How many points are remembered, and where the next one goes. */
const pointCount = 7
const nextPoint = 8
/** Then, for each point, its value and its timestamp's ms. */
const points = 9
const numbersPerPoint = 2

export const numbersPerKeg = points + pointsPerKegMax * numbersPerPoint

/**
 * One keg of one cellar: its latest reading and its last points. There may be 100,000 of them for ever, so each is one
 * small object and its share of a block of numbers, and what is shown is made of them when it is asked for.
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
  readonly #numbers: Float64Array
  readonly #from: number
  /** What the points' ms leave out, if that was ever anything. */
  #nanoseconds: Uint32Array | null
  /** Of the latest reading; `null` while there is none. */
  #source: Source | null
  #timestamp: string

  constructor(rack: string, keg: string, memory: KegMemory) {
    this.rack = rack
    this.keg = keg
    this.older = null
    this.newer = null
    this.usedPosition = 0
    this.savedIn = 0
    this.place = memory.take()
    this.#numbers = memory.blockOf(this.place)
    this.#from = memory.firstOf(this.place)
    this.#nanoseconds = null
    this.#source = null
    this.#timestamp = ''
  }

  /** Adds a point; answers whether one with the same timestamp and value was still remembered. */
  remember(point: { readonly value: number; readonly timestamp: string; readonly timestampMs: number }): boolean {
    const { value, timestampMs } = point
    const nanoseconds = nanosecondsPastMs(point.timestamp)
    // Nearly every reading is newer than all before it, and then there is nothing to look for.
    const isNewest = this.#get(pointCount) === 0 || timestampMs > this.#get(newestMs)
    const isRepeat = !isNewest && this.#has(value, timestampMs, nanoseconds)
    if (isNewest) this.#set(newestMs, timestampMs)
    this.#add(value, timestampMs, nanoseconds)
    return isRepeat
  }

  /** The latest is the one with the latest timestamp; of two with the same, the one that came later. */
  offerLatest(reading: AcceptedReading, timestampMs: number, source: Source): void {
    if (this.#source !== null && !this.#isBefore(reading, timestampMs)) return
    this.#source = source
    this.#timestamp = reading.timestamp
    this.#set(latestMs, timestampMs)
    this.#set(latestRevision, reading.revision)
    this.#set(latestPosition, reading.position)
    this.#set(latestRecordedAt, reading.recordedAt)
    this.#set(latestValue, reading.value)
    this.#set(latestIsRepeat, reading.repeat ? 1 : 0)
  }

  /** `null` while every reading of it was ahead of time. */
  show(cellar: string): KegLatest | null {
    if (this.#source === null) return null
    const { rack, keg } = this
    const latest: AcceptedReading = {
      stream: this.#source.stream,
      revision: this.#get(latestRevision),
      position: this.#get(latestPosition),
      keyId: this.#source.keyId,
      recordedAt: this.#get(latestRecordedAt),
      cellar,
      rack,
      keg,
      value: this.#get(latestValue),
      timestamp: this.#timestamp,
      clockSkew: false,
      repeat: this.#get(latestIsRepeat) === 1,
    }
    const values = Array.from({ length: this.#get(pointCount) }, (_, index) => this.#get(this.#placeOf(index)))
    return { rack, keg, latest, values }
  }

  save(to: RecordWriter): void {
    to.name(this.rack)
    to.name(this.keg)
    to.whole(this.usedPosition)
    to.optional(this.#source, (source) => {
      to.whole(source.number)
      to.text(this.#timestamp)
      to.signed(this.#get(latestMs))
      to.whole(this.#get(latestRevision))
      to.whole(this.#get(latestPosition))
      to.whole(this.#get(latestRecordedAt))
      to.float(this.#get(latestValue))
      to.flag(this.#get(latestIsRepeat) === 1)
    })
    to.signed(this.#get(newestMs))
    to.flag(this.#nanoseconds !== null)
    const count = this.#get(pointCount)
    to.whole(count)
    let beforeMs = this.#get(newestMs)
    for (let index = 0; index < count; index += 1) {
      const place = this.#placeOf(index)
      const timestampMs = this.#get(place + 1)
      to.float(this.#get(place))
      to.signed(timestampMs - beforeMs)
      if (this.#nanoseconds !== null) to.whole(this.#nanoseconds[(place - points) / numbersPerPoint] ?? 0)
      beforeMs = timestampMs
    }
  }

  /** Into a keg that has just been made. @throws RangeError if the bytes are not what `save` wrote behind the names. */
  restore(from: RecordReader, sources: readonly Source[]): void {
    this.usedPosition = from.whole()
    if (from.flag()) {
      const number = from.whole()
      this.#source = sources[number] ?? null
      if (this.#source === null) throw new RangeError(`a keg names stream ${number}, which is not there`)
      this.#timestamp = from.text()
      this.#set(latestMs, from.signed())
      this.#set(latestRevision, from.whole())
      this.#set(latestPosition, from.whole())
      this.#set(latestRecordedAt, from.whole())
      this.#set(latestValue, from.float())
      this.#set(latestIsRepeat, from.flag() ? 1 : 0)
    }
    this.#set(newestMs, from.signed())
    if (from.flag()) this.#nanoseconds = new Uint32Array(pointsPerKegMax)
    const count = from.whole()
    let beforeMs = this.#get(newestMs)
    for (let index = 0; index < count; index += 1) {
      const value = from.float()
      beforeMs += from.signed()
      this.#add(value, beforeMs, this.#nanoseconds === null ? 0 : from.whole())
    }
  }

  #get(number: number): number {
    return this.#numbers[this.#from + number] ?? 0
  }

  #set(number: number, value: number): void {
    this.#numbers[this.#from + number] = value
  }

  #add(value: number, timestampMs: number, nanoseconds: number): void {
    const next = this.#get(nextPoint)
    const place = points + next * numbersPerPoint
    this.#set(place, value)
    this.#set(place + 1, timestampMs)
    if (nanoseconds !== 0) this.#nanoseconds ??= new Uint32Array(pointsPerKegMax)
    if (this.#nanoseconds !== null) this.#nanoseconds[next] = nanoseconds
    this.#set(nextPoint, next + 1 === pointsPerKegMax ? 0 : next + 1)
    const count = this.#get(pointCount)
    if (count < pointsPerKegMax) this.#set(pointCount, count + 1)
  }

  /** Where the numbers of a point begin: 0 is the oldest. */
  #placeOf(index: number): number {
    const oldest = this.#get(pointCount) < pointsPerKegMax ? 0 : this.#get(nextPoint)
    return points + ((oldest + index) % pointsPerKegMax) * numbersPerPoint
  }

  #has(value: number, timestampMs: number, nanoseconds: number): boolean {
    const count = this.#get(pointCount)
    for (let index = 0; index < count; index += 1) {
      const place = points + index * numbersPerPoint
      if (this.#get(place) !== value || this.#get(place + 1) !== timestampMs) continue
      if ((this.#nanoseconds?.[index] ?? 0) === nanoseconds) return true
    }
    return false
  }

  /** Whether the latest so far comes before that reading. */
  #isBefore(reading: AcceptedReading, timestampMs: number): boolean {
    const byMs = timestampMs - this.#get(latestMs)
    if (byMs !== 0) return byMs > 0
    const byNanoseconds = nanosecondsPastMs(reading.timestamp) - nanosecondsPastMs(this.#timestamp)
    return byNanoseconds === 0 ? reading.position > this.#get(latestPosition) : byNanoseconds > 0
  }
}

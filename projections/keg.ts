import { nanosecondsPastMs } from '../src/domain/timestamp-fraction.ts'
import { pointsPerKegMax } from '../src/limits.ts'
import type { AcceptedReading, KegLatest } from './queries.ts'
import type { RecordReader, RecordWriter } from './records.ts'

/** Which key's readings a keg's latest came with. Shared by all of them. */
export type Source = { readonly number: number; readonly stream: string; readonly keyId: string }

/** The value and the timestamp's ms: numbers side by side, without an object for each. */
const numbersPerPoint = 2
const pointsAtFirst = 4

/**
 * One keg of one cellar: its latest reading and its last points. There may be 100,000 of them for ever, so each is one
 * object and one array that grows, and what is shown is made of them when it is asked for.
 */
export class Keg {
  /** Neighbours in the order of use, which `Kegs` keeps. */
  older: Keg | null = null
  newer: Keg | null = null
  /** Position of the last reading: the order of use. */
  usedPosition = 0
  /** The last checkpoint that has it, or was begun before it was there. */
  savedIn = 0
  #points = new Float64Array(pointsAtFirst * numbersPerPoint)
  /** What the points' ms leave out, if that was ever anything. */
  #nanoseconds: Uint32Array | null = null
  #count = 0
  #next = 0
  #newestMs = Number.NEGATIVE_INFINITY
  /** The latest reading; none while `#source` is null. */
  #source: Source | null = null
  #timestamp = ''
  #latestMs = Number.NEGATIVE_INFINITY
  #revision = 0
  #position = 0
  #recordedAt = 0
  #value = 0
  #isRepeat = false

  constructor(
    readonly rack: string,
    readonly keg: string,
  ) {}

  /** Adds a point; answers whether one with the same timestamp and value was still remembered. */
  remember(point: { readonly value: number; readonly timestamp: string; readonly timestampMs: number }): boolean {
    const { value, timestampMs } = point
    const nanoseconds = nanosecondsPastMs(point.timestamp)
    // Nearly every reading is newer than all before it, and then there is nothing to look for.
    const isRepeat = timestampMs <= this.#newestMs && this.#has(value, timestampMs, nanoseconds)
    if (timestampMs > this.#newestMs) this.#newestMs = timestampMs
    this.#add(value, timestampMs, nanoseconds)
    return isRepeat
  }

  /** The latest is the one with the latest timestamp; of two with the same, the one that came later. */
  offerLatest(reading: AcceptedReading, timestampMs: number, source: Source): void {
    if (timestampMs < this.#latestMs) return
    if (timestampMs === this.#latestMs && !this.#isBefore(reading)) return
    this.#source = source
    this.#timestamp = reading.timestamp
    this.#latestMs = timestampMs
    this.#revision = reading.revision
    this.#position = reading.position
    this.#recordedAt = reading.recordedAt
    this.#value = reading.value
    this.#isRepeat = reading.repeat
  }

  /** `null` while every reading of it was ahead of time. */
  show(cellar: string): KegLatest | null {
    if (this.#source === null) return null
    const { rack, keg } = this
    const latest: AcceptedReading = {
      stream: this.#source.stream,
      revision: this.#revision,
      position: this.#position,
      keyId: this.#source.keyId,
      recordedAt: this.#recordedAt,
      cellar,
      rack,
      keg,
      value: this.#value,
      timestamp: this.#timestamp,
      clockSkew: false,
      repeat: this.#isRepeat,
    }
    const values: number[] = []
    for (let index = 0; index < this.#count; index += 1) values.push(this.#points[this.#placeOf(index)] ?? 0)
    return { rack, keg, latest, values }
  }

  save(to: RecordWriter): void {
    to.name(this.rack)
    to.name(this.keg)
    to.whole(this.usedPosition)
    to.signed(this.#newestMs)
    to.optional(this.#source, (source) => {
      to.whole(source.number)
      to.text(this.#timestamp)
      to.signed(this.#latestMs)
      to.whole(this.#revision)
      to.whole(this.#position)
      to.whole(this.#recordedAt)
      to.float(this.#value)
      to.flag(this.#isRepeat)
    })
    to.flag(this.#nanoseconds !== null)
    to.whole(this.#count)
    let beforeMs = this.#newestMs
    for (let index = 0; index < this.#count; index += 1) {
      const place = this.#placeOf(index)
      const timestampMs = this.#points[place + 1] ?? 0
      to.float(this.#points[place] ?? 0)
      to.signed(timestampMs - beforeMs)
      if (this.#nanoseconds !== null) to.whole(this.#nanoseconds[place / numbersPerPoint] ?? 0)
      beforeMs = timestampMs
    }
  }

  /** @throws RangeError if the bytes are no keg that `save` wrote. */
  static restore(from: RecordReader, sources: readonly Source[]): Keg {
    const keg = new Keg(from.name(), from.name())
    keg.usedPosition = from.whole()
    keg.#newestMs = from.signed()
    if (from.flag()) {
      const number = from.whole()
      keg.#source = sources[number] ?? null
      if (keg.#source === null) throw new RangeError(`a keg names stream ${number}, which is not there`)
      keg.#timestamp = from.text()
      keg.#latestMs = from.signed()
      keg.#revision = from.whole()
      keg.#position = from.whole()
      keg.#recordedAt = from.whole()
      keg.#value = from.float()
      keg.#isRepeat = from.flag()
    }
    const hasNanoseconds = from.flag()
    const count = from.whole()
    keg.#grow(count)
    if (hasNanoseconds) keg.#nanoseconds = new Uint32Array(keg.#points.length / numbersPerPoint)
    let beforeMs = keg.#newestMs
    for (let index = 0; index < count; index += 1) {
      const value = from.float()
      beforeMs += from.signed()
      keg.#add(value, beforeMs, hasNanoseconds ? from.whole() : 0)
    }
    return keg
  }

  #add(value: number, timestampMs: number, nanoseconds: number): void {
    if (this.#count < pointsPerKegMax) {
      this.#count += 1
      this.#grow(this.#count)
    }
    const at = this.#next * numbersPerPoint
    this.#points[at] = value
    this.#points[at + 1] = timestampMs
    if (nanoseconds !== 0) this.#nanoseconds ??= new Uint32Array(this.#points.length / numbersPerPoint)
    if (this.#nanoseconds !== null) this.#nanoseconds[this.#next] = nanoseconds
    this.#next = this.#next + 1 === pointsPerKegMax ? 0 : this.#next + 1
  }

  /** Room for so many points. */
  #grow(points: number): void {
    if (points * numbersPerPoint <= this.#points.length) return
    const room = Math.min(pointsPerKegMax, Math.max(points, (2 * this.#points.length) / numbersPerPoint))
    const grown = new Float64Array(room * numbersPerPoint)
    grown.set(this.#points)
    this.#points = grown
    if (this.#nanoseconds === null) return
    const nanoseconds = new Uint32Array(room)
    nanoseconds.set(this.#nanoseconds)
    this.#nanoseconds = nanoseconds
  }

  /** Where the numbers of a point begin: 0 is the oldest. */
  #placeOf(index: number): number {
    const oldest = this.#count < pointsPerKegMax ? 0 : this.#next
    return ((oldest + index) % pointsPerKegMax) * numbersPerPoint
  }

  #has(value: number, timestampMs: number, nanoseconds: number): boolean {
    for (let index = 0; index < this.#count; index += 1) {
      const at = index * numbersPerPoint
      if (this.#points[at] !== value || this.#points[at + 1] !== timestampMs) continue
      if ((this.#nanoseconds?.[index] ?? 0) === nanoseconds) return true
    }
    return false
  }

  /** Of two readings with the same ms: whether the latest so far comes before that one. */
  #isBefore(reading: AcceptedReading): boolean {
    const difference = nanosecondsPastMs(reading.timestamp) - nanosecondsPastMs(this.#timestamp)
    return difference === 0 ? reading.position > this.#position : difference > 0
  }
}

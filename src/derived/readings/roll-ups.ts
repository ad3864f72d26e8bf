import type { Database, Statement } from 'bun:sqlite'
import { hourMs, minuteMs } from '../../domain/calendar.ts'
import { modelRowsPerStep } from '../../limits.ts'
import type { FlushSteps } from '../flush-steps.ts'
import type { Arriving } from './arriving.ts'
import { CellReader, CellWriter, cellOf, kegsPerCell } from './cells.ts'
import { buckets, cellarNumber, type Keg, kegNumber, lastClosed, latestMs } from './keg-numbers.ts'
import type { KegSlots } from './keg-slots.ts'
import {
  bucketCount,
  bucketFirst,
  bucketFirstAt,
  bucketLast,
  bucketLastAt,
  bucketLate,
  bucketLateMs,
  bucketMax,
  bucketMaxPosition,
  bucketMin,
  bucketMinPosition,
  bucketRepeats,
  bucketSecondCount,
  bucketSecondSum,
  bucketSum,
  bucketTime,
  isBucketDirty,
  levels,
  numbersPerBucket,
} from './levels.ts'

/** Points of a minute are kept for this time. Points of an hour are kept as long as readings. */
export const minutesKeptMs = 48 * 3_600_000

const rowLevel = numbersPerBucket
const rowCellar = numbersPerBucket + 1
const rowKeg = numbersPerBucket + 2
/** The place of the keg's bucket that was closed before, plus 1, or 0. */
const rowBefore = numbersPerBucket + 3
const numbersPerRow = numbersPerBucket + 4

type LateBuckets = { upTo: number; readonly places: Map<number, number> }

/**
 * Each keg has one open bucket of each level in memory. Buckets are written whole, because sums of parts would differ from
 * the sum of all values in their order.
 */
export class RollUps {
  readonly #slots: KegSlots
  readonly #steps: FlushSteps
  readonly #tables: readonly Table[]
  readonly #writer = new CellWriter()
  #closed = new Float64Array(1_024 * numbersPerRow)
  #closedCount = 0
  readonly #late = new Map<number, LateBuckets>()
  /** Earlier minutes are not kept. */
  #firstMinute = Number.NEGATIVE_INFINITY
  #expiredTo = Number.NEGATIVE_INFINITY

  constructor(database: Database, slots: KegSlots, steps: FlushSteps) {
    this.#slots = slots
    this.#steps = steps
    this.#tables = levels.map(({ table }) => tableOf(database, table))
  }

  /** A guess: half of each cell changes. */
  get pending(): number {
    return this.#closedCount / (kegsPerCell / 2)
  }

  get firstMinute(): number | null {
    return Number.isFinite(this.#firstMinute) ? this.#firstMinute : null
  }

  /** Call it before setting the keg's latest reading. */
  add(slot: number, arriving: Arriving, isRepeat: boolean): void {
    const keg = this.#slots.of(slot)
    const { numbers, from } = keg
    const lateMs = arriving.recordedAt - arriving.timeMs
    for (let level = 0; level < levels.length; level += 1) {
      const ms = levels[level]?.ms ?? minuteMs
      const time = Math.floor(arriving.timeMs / ms)
      if (level === 0 && time < this.#firstMinute) continue
      const at = from + buckets + level * numbersPerBucket
      if (numbers[at + bucketTime] !== time || numbers[at + bucketCount] === 0) {
        this.#close(keg, level)
        const isNewest = time > Math.floor((numbers[from + latestMs] ?? 0) / ms)
        if (isNewest || !this.#recall(slot, level, time)) numbers.fill(0, at, at + numbersPerBucket)
        numbers[at + bucketTime] = time
      }
      const offset = arriving.timeMs - time * ms + arriving.nanoseconds / 1e6
      addToBucket(numbers, at, arriving, offset)
      if (lateMs > lateMsMin) addLate(numbers, at, lateMs)
      if (isRepeat) numbers[at + bucketRepeats] = (numbers[at + bucketRepeats] ?? 0) + 1
    }
  }

  forgetBefore({ numbers, from }: Keg, beforeMs: number): void {
    for (const [level, { ms }] of levels.entries()) {
      const at = from + buckets + level * numbersPerBucket
      if ((numbers[at + bucketTime] ?? 0) * ms < beforeMs) numbers.fill(0, at, at + numbersPerBucket)
    }
  }

  forgetClosedBefore(cellar: number, beforeMs: number): void {
    for (let at = 0; at < this.#closedCount * numbersPerRow; at += numbersPerRow) {
      const ms = levels[this.#closed[at + rowLevel] ?? 0]?.ms ?? minuteMs
      if (this.#closed[at + rowCellar] !== cellar || (this.#closed[at + bucketTime] ?? 0) * ms >= beforeMs) continue
      this.#closed[at + bucketCount] = 0
    }
  }

  release(slot: number): void {
    const keg = this.#slots.of(slot)
    for (let level = 0; level < levels.length; level += 1) this.#close(keg, level)
    this.#late.delete(slot)
  }

  save(keg: Keg): void {
    const { numbers, from } = keg
    for (let level = 0; level < levels.length; level += 1) {
      this.#close(keg, level)
      numbers[from + buckets + level * numbersPerBucket + isBucketDirty] = 0
    }
    numbers[from + lastClosed] = 0
  }

  *write(): Generator<void> {
    const groups = yield* this.#groups()
    for (const group of groups) yield* this.#writeGroup(group)
    // To allocate this memory anew for each flush would take more time than all else here.
    if (this.#closedCount * numbersPerRow < this.#closed.length / 8)
      this.#closed = new Float64Array(this.#closed.length / 2)
    this.#closedCount = 0
    this.#late.clear()
  }

  /** Call it before the buckets are written: it also says which minutes are not worth writing. */
  *expire(cellars: Iterable<{ readonly number: number }>, nowMs: number): Generator<void> {
    this.#firstMinute = Math.floor((nowMs - minutesKeptMs) / minuteMs)
    const [minutes] = this.#tables
    if (minutes === undefined || this.#firstMinute === this.#expiredTo) return
    for (const { number } of cellars) yield* this.#deleteBefore(minutes, number, this.#firstMinute)
    this.#expiredTo = this.#firstMinute
  }

  *purge(cellar: number, beforeMs: number): Generator<void> {
    for (const [level, table] of this.#tables.entries()) {
      yield* this.#deleteBefore(table, cellar, Math.ceil(beforeMs / (levels[level]?.ms ?? minuteMs)))
    }
  }

  #close({ numbers, from }: Keg, level: number): void {
    const at = from + buckets + level * numbersPerBucket
    if (numbers[at + isBucketDirty] === 0) return
    if ((this.#closedCount + 1) * numbersPerRow > this.#closed.length) {
      const larger = new Float64Array(this.#closed.length * 2)
      larger.set(this.#closed)
      this.#closed = larger
    }
    const to = this.#closedCount * numbersPerRow
    for (let number = 0; number < numbersPerBucket; number += 1) {
      this.#closed[to + number] = numbers[at + number] ?? 0
    }
    this.#closed[to + rowLevel] = level
    this.#closed[to + rowCellar] = numbers[from + cellarNumber] ?? 0
    this.#closed[to + rowKeg] = numbers[from + kegNumber] ?? 0
    this.#closed[to + rowBefore] = numbers[from + lastClosed] ?? 0
    this.#closedCount += 1
    numbers[from + lastClosed] = this.#closedCount
  }

  /** Opens a bucket that was closed, or that is in the file. */
  #recall(slot: number, level: number, time: number): boolean {
    const { numbers, from } = this.#slots.of(slot)
    const at = from + buckets + level * numbersPerBucket
    const row = this.#closedOf(slot).get(time * levels.length + level)
    if (row !== undefined) {
      const closed = row * numbersPerRow
      if (this.#closed[closed + bucketCount] === 0) return false
      numbers.set(this.#closed.subarray(closed, closed + numbersPerBucket), at)
      this.#closed[closed + bucketCount] = 0
      return true
    }
    const keg = numbers[from + kegNumber] ?? 0
    const stored = this.#tables[level]?.find.get(numbers[from + cellarNumber] ?? 0, time, cellOf(keg)) ?? null
    if (stored === null) return false
    const reader = new CellReader(stored.buckets)
    if (!reader.find(keg)) return false
    numbers.set(reader.numbers, at)
    return true
  }

  /** In this order, most rows are added at the end of their table. */
  *#groups(): Generator<void, readonly BucketGroup[]> {
    const groups = new Map<string, BucketGroup>()
    let last: BucketGroup | null = null
    for (let row = 0; row < this.#closedCount; row += 1) {
      if (this.#steps.isFull(1 / kegsPerCell)) yield
      const at = row * numbersPerRow
      const level = this.#closed[at + rowLevel] ?? 0
      const cellar = this.#closed[at + rowCellar] ?? 0
      const time = this.#closed[at + bucketTime] ?? 0
      if (this.#closed[at + bucketCount] === 0 || (level === 0 && time < this.#firstMinute)) continue
      if (last === null || last.time !== time || last.level !== level || last.cellar !== cellar) {
        const name: string = `${level} ${cellar} ${time}`
        last = groups.get(name) ?? { level, cellar, time, rows: [] }
        groups.set(name, last)
      }
      last.rows.push((this.#closed[at + rowKeg] ?? 0) * rowsMax + row)
    }
    return [...groups.values()].sort((a, b) => a.level - b.level || a.cellar - b.cellar || a.time - b.time)
  }

  *#writeGroup({ level, cellar, time, rows }: BucketGroup): Generator<void> {
    const table = this.#tables[level]
    if (table === undefined) return
    // Numbers without a comparison are sorted several times faster.
    const sorted = new Float64Array(rows).sort()
    let cell = -1
    for (let index = 0; index < sorted.length; index += 1) {
      const both = sorted[index] ?? 0
      const keg = Math.floor(both / rowsMax)
      if (cellOf(keg) !== cell) {
        if (cell >= 0) table.write.run(cellar, time, cell, this.#writer.end())
        if (this.#steps.isFull()) yield
        cell = cellOf(keg)
        this.#writer.begin(table.find.get(cellar, time, cell)?.buckets ?? null)
      }
      this.#writer.add(keg, this.#closed, (both - keg * rowsMax) * numbersPerRow)
    }
    table.write.run(cellar, time, cell, this.#writer.end())
  }

  *#deleteBefore({ forget }: Table, cellar: number, time: number): Generator<void> {
    for (let deleted = modelRowsPerStep; deleted === modelRowsPerStep; ) {
      deleted = forget.run(cellar, time).changes
      if (this.#steps.isFull(1 + deleted)) yield
    }
  }

  /** Each closed bucket is entered only once: late readings can come again and again, each behind many closed buckets. */
  #closedOf(slot: number): ReadonlyMap<number, number> {
    const { numbers, from } = this.#slots.of(slot)
    const newest = numbers[from + lastClosed] ?? 0
    if (newest === 0) return noneClosed
    const late = this.#late.get(slot) ?? { upTo: 0, places: new Map<number, number>() }
    this.#late.set(slot, late)
    const found: number[] = []
    for (let next = newest; next > late.upTo; next = this.#closed[(next - 1) * numbersPerRow + rowBefore] ?? 0) {
      found.push(next - 1)
    }
    for (const row of found.reverse()) {
      const at = row * numbersPerRow
      late.places.set((this.#closed[at + bucketTime] ?? 0) * levels.length + (this.#closed[at + rowLevel] ?? 0), row)
    }
    late.upTo = newest
    return late.places
  }
}

const noneClosed: ReadonlyMap<number, number> = new Map()

/** Readings that come later than this after their own time count as late. */
export const lateMsMin = minuteMs
const halfHourMs = hourMs / 2

const addToBucket = (numbers: Float64Array, at: number, arriving: Arriving, offset: number): void => {
  // SQLite keeps no negative zero.
  const value = arriving.value + 0
  const count = numbers[at + bucketCount] ?? 0
  numbers[at + isBucketDirty] = 1
  numbers[at + bucketCount] = count + 1
  if (count === 0 || value < (numbers[at + bucketMin] ?? 0)) {
    numbers[at + bucketMin] = value
    numbers[at + bucketMinPosition] = arriving.position
  }
  if (count === 0 || value > (numbers[at + bucketMax] ?? 0)) {
    numbers[at + bucketMax] = value
    numbers[at + bucketMaxPosition] = arriving.position
  }
  if (offset < halfHourMs) {
    numbers[at + bucketSum] = (numbers[at + bucketSum] ?? 0) + value
  } else {
    numbers[at + bucketSecondCount] = (numbers[at + bucketSecondCount] ?? 0) + 1
    numbers[at + bucketSecondSum] = (numbers[at + bucketSecondSum] ?? 0) + value
  }
  if (count === 0 || offset < (numbers[at + bucketFirstAt] ?? 0)) {
    numbers[at + bucketFirst] = value
    numbers[at + bucketFirstAt] = offset
  }
  if (count === 0 || offset >= (numbers[at + bucketLastAt] ?? 0)) {
    numbers[at + bucketLast] = value
    numbers[at + bucketLastAt] = offset
  }
}

const addLate = (numbers: Float64Array, at: number, lateMs: number): void => {
  numbers[at + bucketLate] = (numbers[at + bucketLate] ?? 0) + 1
  if (lateMs > (numbers[at + bucketLateMs] ?? 0)) numbers[at + bucketLateMs] = lateMs
}

type BucketGroup = {
  readonly level: number
  readonly cellar: number
  readonly time: number
  readonly rows: number[]
}

/** More than the number of buckets that one flush writes. */
const rowsMax = 2 ** 24

type Table = {
  readonly find: Statement<{ readonly buckets: Uint8Array }, [number, number, number]>
  readonly write: Statement
  readonly forget: Statement
}

const tableOf = (database: Database, table: string): Table => ({
  find: database.prepare(`SELECT buckets FROM ${table} WHERE cellar = ? AND time = ? AND cell = ?`),
  write: database.prepare(`REPLACE INTO ${table} VALUES (?, ?, ?, ?)`),
  forget: database.prepare(
    `DELETE FROM ${table} WHERE (cellar, time, cell) IN
      (SELECT cellar, time, cell FROM ${table} WHERE cellar = ? AND time < ? LIMIT ${modelRowsPerStep})`,
  ),
})

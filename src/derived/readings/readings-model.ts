import type { Database } from 'bun:sqlite'
import type { EventData, RecordedEvent } from '../../domain/events.ts'
import { isBatch } from '../../domain/reading/columns.ts'
import { isRun, type LogItem, type RecordedRun } from '../../domain/reading/recorded-run.ts'
import { keyIdOf } from '../../domain/stream-names.ts'
import { futureSkewMsMax, modelRowsPerStep } from '../../limits.ts'
import { FlushSteps } from '../flush-steps.ts'
import type { Model, ModelKind } from '../model.ts'
import { AheadReadings, aheadTable } from './ahead-readings.ts'
import { type Arriving, emptyArriving, takeColumns, takeReading, takeRequest } from './arriving.ts'
import {
  addArrival,
  addTime,
  forgetBefore,
  isDirty,
  isStored,
  kegNumber,
  latestMs,
  latestNanoseconds,
  latestPosition,
  latestRecordedAt,
  latestRevision,
  latestValue,
  nextSeen,
  noteAccepted,
  timeInList,
} from './keg-numbers.ts'
import { type KegOfCellar, KegSlots } from './keg-slots.ts'
import { levelTables } from './levels.ts'
import { cellarTable, type ReadingsCellar, ReadingsCellars } from './readings-cellars.ts'
import { latestReadingsPerCellarMax, recentTable, StoredRecent } from './recent-readings.ts'
import { RollUps } from './roll-ups.ts'
import type { KegName } from './shown-kegs.ts'
import { SilentKegs } from './silent-kegs.ts'
import { type KegAtTime, kegTables, type NamedKegAtTime, StoredKegs } from './stored-kegs.ts'

/** Pages that show readings ask for what they need at once. So this only bounds what is folded again after a crash. */
const readingsFlushEveryMs = 10_000
/** Kegs that stay in memory after a flush: about 900 bytes each. A further keg is read from the file when it is used. */
export const kegsInMemoryMax = 16_384
/** Kegs of one cellar. A further keg makes the cellar forget one. */
export const kegsPerCellarMax = 100_000

export const readingsKind: ModelKind = {
  name: 'readings',
  format: 4,
  tables: cellarTable + kegTables + levelTables + aheadTable + recentTable,
  flushEveryMs: readingsFlushEveryMs,
  open: (database) => new ReadingsModel(database),
}

class ReadingsModel implements Model {
  readonly #foldAll: (items: readonly LogItem[]) => void
  readonly #slots = new KegSlots()
  readonly #steps = new FlushSteps()
  readonly #cellars: ReadingsCellars
  readonly #kegs: StoredKegs
  readonly #rollUps: RollUps
  readonly #ahead: AheadReadings
  readonly #recent: StoredRecent
  #dirty: number[] = []
  readonly #slotsOfKeys = new Map<string, number>()
  #slotBefore: number | null = null
  readonly #arriving = emptyArriving()

  constructor(database: Database) {
    this.#cellars = new ReadingsCellars(database)
    this.#kegs = new StoredKegs(database, this.#slots)
    this.#rollUps = new RollUps(database, this.#slots, this.#steps)
    this.#ahead = new AheadReadings(database, this.#steps)
    this.#recent = new StoredRecent(database)
    // Without a transaction, a look-up takes ten times as long.
    this.#foldAll = database.transaction((items: readonly LogItem[]) => {
      for (const item of items) this.#foldItem(item)
    })
  }

  get pending(): number {
    return this.#dirty.length + this.#rollUps.pending + this.#ahead.pending
  }

  fold(items: readonly LogItem[]): void {
    this.#foldAll(items)
  }

  *flush(nowMs: number): Generator<void> {
    // A keg that was forgotten can have sent again: its old row must be gone before it is written.
    for (const cellar of this.#cellars.all()) yield* this.#deleteGone(cellar)
    for (const cellar of this.#cellars.all()) {
      if (!cellar.isPurged) continue
      this.#recent.forgetBefore(cellar.number, cellar.keptFromMs ?? 0)
      yield* this.#trimKegs(cellar)
      yield* this.#rollUps.purge(cellar.number, cellar.timesFromMs)
      yield* this.#ahead.purge(cellar.number, cellar.keptFromMs ?? 0)
      cellar.isPurged = false
    }
    yield* this.#rollUps.expire(this.#cellars.all(), nowMs)
    yield* this.#writeKegs()
    yield* this.#rollUps.write()
    yield* this.#ahead.write()
    yield* this.#writeCellars()
    this.#cellars.keepMinutesFrom(this.#rollUps.firstMinute)
    if (Math.max(this.#slots.size, this.#slotsOfKeys.size) > kegsInMemoryMax) this.#forgetKegs()
  }

  #foldItem(item: LogItem): void {
    if (isRun(item)) this.#foldRun(item)
    else if (item.type === 'ReadingAccepted') this.#foldEvent(item)
    else if (item.type === 'ReadingsPurged') this.#purge(item.data)
  }

  #foldRun({ revision, run, position }: RecordedRun): void {
    const arriving = this.#arriving
    arriving.keyId = run.keyId
    arriving.recordedAt = run.recordedAt
    this.#slotBefore = this.#slotsOfKeys.get(run.keyId) ?? null
    const shownFrom = run.count - latestReadingsPerCellarMax
    let before = 0
    for (const request of run.requests) {
      const { readings } = request
      takeRequest(arriving, request)
      const cellar = this.#cellars.named(isBatch(readings) ? readings.cellar.text : readings.cellar)
      const count = isBatch(readings) ? readings.count : 1
      for (let index = 0; index < count; index += 1) {
        const at = before + index
        if (isBatch(readings)) takeColumns(arriving, readings, index)
        else takeReading(arriving, readings)
        arriving.revision = revision + at
        arriving.position = position + at
        this.#foldReading(cellar)
        if (at >= shownFrom) showRecent(cellar, arriving)
      }
      before += count
    }
    if (this.#slotBefore !== null) this.#slotsOfKeys.set(run.keyId, this.#slotBefore)
  }

  #foldEvent(event: RecordedEvent<'ReadingAccepted'>): void {
    const arriving = this.#arriving
    const { stream, revision, position, recordedAt, data, metadata } = event
    arriving.keyId = keyIdOf(stream)
    this.#slotBefore = null
    arriving.recordedAt = recordedAt
    arriving.revision = revision
    arriving.position = position
    takeRequest(arriving, metadata)
    takeReading(arriving, data)
    const cellar = this.#cellars.named(data.cellar)
    this.#foldReading(cellar)
    showRecent(cellar, arriving)
  }

  #foldReading(cellar: ReadingsCellar): void {
    const arriving = this.#arriving
    arriving.cellar = cellar.number
    if (arriving.timeMs - arriving.recordedAt > futureSkewMsMax) {
      if (arriving.recordedAt >= (cellar.keptFromMs ?? 0)) this.#ahead.add(cellar.number, arriving)
      this.#noteAccepted(cellar)
      return
    }
    if (arriving.timeMs < cellar.timesFromMs) {
      this.#noteAccepted(cellar)
      return
    }
    const slot = this.#slotOf(cellar, arriving)
    const keg = this.#slots.of(slot)
    const { numbers, from } = keg
    const isNew = numbers[from + latestMs] === Number.NEGATIVE_INFINITY
    this.#markDirty(slot)
    const time = timeInList(arriving.timeMs, arriving.nanoseconds)
    this.#rollUps.add(slot, arriving, addTime(keg, time))
    addArrival(keg, arriving)
    if (isLatest(numbers, from, arriving)) this.#setLatest(slot)
    if (!isNew) return
    cellar.silent?.add(this.#lastOf(slot))
    if (cellar.kegCount > kegsPerCellarMax) this.#forgetSilentKeg(cellar)
  }

  /** The clock of the device is wrong, but the device is not silent. */
  #noteAccepted(cellar: ReadingsCellar): void {
    const slot = this.#slots.find(this.#arriving) ?? this.#load(cellar, this.#arriving)
    if (slot === null) return
    this.#markDirty(slot)
    noteAccepted(this.#slots.of(slot), this.#arriving)
  }

  /** Many devices send their kegs in the same order each time. */
  #slotOf(cellar: ReadingsCellar, named: KegOfCellar): number {
    const slots = this.#slots
    const before = this.#slotBefore
    if (before !== null) {
      const { numbers, from } = slots.of(before)
      const expected = numbers[from + nextSeen] ?? 0
      if (slots.holds(expected, named)) {
        this.#slotBefore = expected
        return expected
      }
    }
    const slot = slots.find(named) ?? this.#load(cellar, named) ?? this.#makeKeg(cellar, named)
    if (before !== null) {
      const { numbers, from } = slots.of(before)
      numbers[from + nextSeen] = slot
    }
    this.#slotBefore = slot
    return slot
  }

  #load(cellar: ReadingsCellar, named: KegOfCellar): number | null {
    const slot = this.#kegs.load(named, cellar.gone)
    if (slot === null || !cellar.isPurged) return slot
    forgetBefore(this.#slots.of(slot), cellar.timesFromMs, cellar.keptFromMs ?? 0)
    const { number, timeMs, name } = this.#lastOf(slot)
    if (timeMs >= cellar.timesFromMs) return slot
    this.#forgetKeg(cellar, number, name)
    return null
  }

  #makeKeg(cellar: ReadingsCellar, named: KegOfCellar): number {
    const slot = this.#slots.take(named)
    const { numbers, from } = this.#slots.of(slot)
    numbers[from + kegNumber] = cellar.kegsMade
    cellar.kegsMade += 1
    cellar.kegCount += 1
    cellar.isDirty = true
    return slot
  }

  #setLatest(slot: number): void {
    const arriving = this.#arriving
    const { numbers, from } = this.#slots.of(slot)
    numbers[from + latestMs] = arriving.timeMs
    numbers[from + latestNanoseconds] = arriving.nanoseconds
    numbers[from + latestPosition] = arriving.position
    numbers[from + latestRevision] = arriving.revision
    numbers[from + latestRecordedAt] = arriving.recordedAt
    numbers[from + latestValue] = arriving.value
    this.#slots.keyIds[slot] = arriving.keyId
    this.#slots.timestamps[slot] = arriving.timestamp
  }

  #markDirty(slot: number): void {
    const { numbers, from } = this.#slots.of(slot)
    if (numbers[from + isDirty] === 1) return
    numbers[from + isDirty] = 1
    this.#dirty.push(slot)
  }

  /**
   * By the time of the readings. By that of acceptance, a model that is built from a purged log could forget another keg.
   */
  #forgetSilentKeg(cellar: ReadingsCellar): void {
    cellar.silent ??= this.#silentKegsOf(cellar)
    const now = (last: KegAtTime): NamedKegAtTime | null => {
      if (cellar.gone.has(last.number)) return null
      const name = last.name ?? this.#kegs.nameOf(cellar.number, last.number)
      if (name === null) return null
      const slot = this.#slots.find({ cellar: cellar.number, ...name })
      if (slot === null) return { ...last, name }
      const current = this.#lastOf(slot)
      return current.number === last.number ? current : null
    }
    const silent = cellar.silent.take(now)
    if (silent === null) throw new Error(`Cannot find the silent kegs of "${cellar.name}"`)
    this.#forgetKeg(cellar, silent.number, silent.name)
  }

  #silentKegsOf(cellar: ReadingsCellar): SilentKegs {
    const made = [...this.#slots.ofCellar(cellar.number)].filter((slot) => {
      const { numbers, from } = this.#slots.of(slot)
      return numbers[from + isStored] === 0
    })
    const kegs = made.map((slot) => this.#lastOf(slot))
    return new SilentKegs(kegs, (after) => this.#kegs.oldest(cellar.number, after))
  }

  #lastOf(slot: number): NamedKegAtTime {
    const { racks, kegs } = this.#slots
    const { numbers, from } = this.#slots.of(slot)
    return {
      number: numbers[from + kegNumber] ?? 0,
      name: { rack: racks[slot] ?? '', keg: kegs[slot] ?? '' },
      timeMs: numbers[from + latestMs] ?? 0,
      position: numbers[from + latestPosition] ?? 0,
    }
  }

  /** Its points stay until they expire or are purged. Nobody finds them, because its number is never used again. */
  #forgetKeg(cellar: ReadingsCellar, number: number, name: KegName): void {
    const named = { cellar: cellar.number, ...name }
    const slot = this.#slots.find(named)
    if (slot !== null) {
      const { numbers, from } = this.#slots.of(slot)
      this.#rollUps.release(slot)
      numbers[from + isDirty] = 0
      this.#slots.release(slot)
    }
    cellar.gone.set(number, named)
    cellar.kegCount -= 1
    cellar.isDirty = true
  }

  /**
   * All keys of a cellar are purged up to the same midnight. Kegs that are only in the file wait for the next flush, and
   * count until then. They are the oldest ones, so a full cellar forgets them first.
   */
  #purge({ cellar: name, acceptedBefore }: EventData<'ReadingsPurged'>): void {
    const cellar = this.#cellars.named(name)
    if (!this.#cellars.keepFrom(cellar, acceptedBefore)) return
    const beforeMs = cellar.timesFromMs
    for (const slot of this.#slots.ofCellar(cellar.number)) {
      const keg = this.#slots.of(slot)
      if (forgetBefore(keg, beforeMs, acceptedBefore)) this.#markDirty(slot)
      this.#rollUps.forgetBefore(keg, beforeMs)
      const { number, timeMs, name: kegName } = this.#lastOf(slot)
      if (timeMs < beforeMs) this.#forgetKeg(cellar, number, kegName)
    }
    this.#rollUps.forgetClosedBefore(cellar.number, beforeMs)
    this.#ahead.forgetBefore(cellar.number, acceptedBefore)
    cellar.silent = null
  }

  /** After a purge. One keg of the file at a time, because a cellar can have more of them than fit into memory. */
  *#trimKegs(cellar: ReadingsCellar): Generator<void> {
    for (let after = -1; ; ) {
      const kegs = this.#kegs.withOlder(cellar.number, after, cellar.timesFromMs)
      for (const { number, rack, keg } of kegs) {
        const named = { cellar: cellar.number, rack, keg }
        const known = this.#slots.find(named)
        const slot = known ?? this.#load(cellar, named)
        if (slot !== null) this.#kegs.write(slot)
        if (slot !== null && known === null) this.#slots.release(slot)
        after = number
        if (this.#steps.isFull()) yield
      }
      yield* this.#deleteGone(cellar)
      if (kegs.length < modelRowsPerStep) return
    }
  }

  *#deleteGone({ gone }: ReadingsCellar): Generator<void> {
    for (const [number, named] of gone) {
      this.#kegs.delete(number, named)
      if (this.#steps.isFull(2)) yield
    }
    gone.clear()
  }

  *#writeKegs(): Generator<void> {
    for (const slot of this.#dirty) {
      const keg = this.#slots.of(slot)
      const { numbers, from } = keg
      if (numbers[from + isDirty] === 0) continue
      numbers[from + isDirty] = 0
      this.#kegs.write(slot)
      this.#rollUps.save(keg)
      if (this.#steps.isFull()) yield
    }
    this.#dirty = []
  }

  *#writeCellars(): Generator<void> {
    for (const cellar of this.#cellars.all()) {
      const recent = cellar.recent.take()
      this.#recent.add(cellar.number, recent)
      this.#cellars.write(cellar)
      cellar.silent = null
      if (this.#steps.isFull(1 + recent.length)) yield
    }
  }

  #forgetKegs(): void {
    this.#slots.forgetAll()
    this.#slotsOfKeys.clear()
    // Otherwise this memory would wait for a collection while new kegs take as much again.
    Bun.gc(true)
  }
}

const isLatest = (numbers: Float64Array, from: number, { timeMs, nanoseconds, position }: Arriving): boolean => {
  const byMs = timeMs - (numbers[from + latestMs] ?? 0)
  if (byMs !== 0) return byMs > 0
  const byNanoseconds = nanoseconds - (numbers[from + latestNanoseconds] ?? 0)
  return byNanoseconds === 0 ? position > (numbers[from + latestPosition] ?? 0) : byNanoseconds > 0
}

const showRecent = (cellar: ReadingsCellar, { recordedAt, position, keyId, revision }: Arriving): void => {
  if (cellar.keptFromMs !== null && recordedAt < cellar.keptFromMs) return
  cellar.recent.push({ recordedAt, position, keyId, revision })
}

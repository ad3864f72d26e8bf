import type { Database, Statement } from 'bun:sqlite'
import { hourMs } from '../../domain/calendar.ts'
import { modelRowsPerStep } from '../../limits.ts'
import { SeededMap } from '../../seeded-map.ts'
import type { FlushSteps } from '../flush-steps.ts'
import type { Arriving } from './arriving.ts'

/** Kegs of one cellar and hour whose readings that are too far ahead are counted. Readings of further kegs are not. */
export const aheadKegsPerHourMax = 1_000

/** `hour` is that of the acceptance. By names, because a keg that has only such readings has no number. */
export const aheadTable = `
  CREATE TABLE ahead (
    cellar INTEGER NOT NULL,
    rack TEXT NOT NULL,
    keg TEXT NOT NULL,
    hour INTEGER NOT NULL,
    readings INTEGER NOT NULL,
    PRIMARY KEY (cellar, rack, keg, hour)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX ahead_hours ON ahead (cellar, hour);`

type Waiting = {
  readonly cellar: number
  readonly hour: number
  readonly rack: string
  readonly keg: string
  readings: number
}

/** How many readings had a time that was too far ahead. A purge deletes whole hours, as it does from the log. */
export class AheadReadings {
  readonly #steps: FlushSteps
  #waiting: Waiting[] = []
  #named = new SeededMap<Waiting>()
  readonly #kegsOfHours = new Map<string, number>()
  readonly #count: Statement<{ readonly kegs: number }, [number, number]>
  readonly #find: Statement<{ readonly hour: number }, [number, string, string, number]>
  readonly #add: Statement
  readonly #forget: Statement

  constructor(database: Database, steps: FlushSteps) {
    this.#steps = steps
    this.#count = database.prepare('SELECT count(*) AS kegs FROM ahead WHERE cellar = ? AND hour = ?')
    this.#find = database.prepare('SELECT hour FROM ahead WHERE cellar = ? AND rack = ? AND keg = ? AND hour = ?')
    this.#add = database.prepare(
      `INSERT INTO ahead VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (cellar, rack, keg, hour) DO UPDATE SET readings = readings + excluded.readings`,
    )
    this.#forget = database.prepare(
      `DELETE FROM ahead WHERE (cellar, rack, keg, hour) IN
        (SELECT cellar, rack, keg, hour FROM ahead WHERE cellar = ? AND hour < ? LIMIT ${modelRowsPerStep})`,
    )
  }

  get pending(): number {
    return this.#waiting.length
  }

  add(cellar: number, { recordedAt, rack, keg }: Arriving): void {
    const hour = Math.floor(recordedAt / hourMs)
    // Without the length, two kegs could have the same text.
    const name = `${cellar} ${hour} ${rack.length} ${rack}${keg}`
    const known = this.#named.get(name)
    if (known !== undefined) {
      known.readings += 1
      return
    }
    if (!this.#hasRoom({ cellar, hour, rack, keg })) return
    const waiting = { cellar, hour, rack, keg, readings: 1 }
    this.#named.set(name, waiting)
    this.#waiting.push(waiting)
  }

  forgetBefore(cellar: number, acceptedMs: number): void {
    this.#waiting = this.#waiting.filter((waiting) => waiting.cellar !== cellar || waiting.hour * hourMs >= acceptedMs)
  }

  *purge(cellar: number, acceptedMs: number): Generator<void> {
    for (let deleted = modelRowsPerStep; deleted === modelRowsPerStep; ) {
      deleted = this.#forget.run(cellar, Math.floor(acceptedMs / hourMs)).changes
      if (this.#steps.isFull(1 + deleted)) yield
    }
  }

  *write(): Generator<void> {
    for (const { cellar, rack, keg, hour, readings } of this.#waiting) {
      this.#add.run(cellar, rack, keg, hour, readings)
      if (this.#steps.isFull()) yield
    }
    this.#waiting = []
    this.#named = new SeededMap()
    this.#kegsOfHours.clear()
  }

  #hasRoom({ cellar, hour, rack, keg }: Omit<Waiting, 'readings'>): boolean {
    if (this.#find.get(cellar, rack, keg, hour) !== null) return true
    const name = `${cellar} ${hour}`
    const kegs = this.#kegsOfHours.get(name) ?? this.#count.get(cellar, hour)?.kegs ?? 0
    const hasRoom = kegs < aheadKegsPerHourMax
    this.#kegsOfHours.set(name, hasRoom ? kegs + 1 : kegs)
    return hasRoom
  }
}

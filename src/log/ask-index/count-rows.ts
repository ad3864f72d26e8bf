import type { Database, Statement } from 'bun:sqlite'
import { AskUnusable, type HourCount, type MinuteCount } from '../ask-index.ts'
import { type HourCountRow, hourCountChecksum, type MinuteCountRow, minuteCountChecksum } from './ask-rows.ts'
import { allCellars } from './ask-schema.ts'
import type { NameNumbers } from './name-numbers.ts'
import type { TableTotals } from './table-totals.ts'

type MinutePlace = Omit<MinuteCountRow, 'count' | 'checksum'>

/** Adds to the counts of cellars and of keys: the tables `minute_counts` and `hour_counts`. */
export class CountRows {
  readonly #names: NameNumbers
  readonly #minute: Statement<MinuteCountRow, [number, number, number]>
  readonly #hour: Statement<HourCountRow, [number, number, number]>
  readonly #writeMinute: Statement<unknown, [number, number, number, number, number]>
  readonly #writeHour: Statement<unknown, [number, number, number, number, number, number]>
  readonly #deleteMinute: Statement<unknown, [number, number, number]>

  constructor(database: Database, names: NameNumbers) {
    this.#names = names
    this.#minute = database.prepare('SELECT * FROM minute_counts WHERE cellar = ? AND minute = ? AND code = ?')
    this.#hour = database.prepare('SELECT * FROM hour_counts WHERE key = ? AND hour = ? AND code = ?')
    const change = 'DO UPDATE SET count = excluded.count, checksum = excluded.checksum'
    this.#writeMinute = database.prepare(`
      INSERT INTO minute_counts (cellar, minute, code, count, checksum) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (cellar, minute, code) ${change}
    `)
    this.#writeHour = database.prepare(`
      INSERT INTO hour_counts (key, hour, code, cellar, count, checksum) VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT (key, hour, code) ${change}
    `)
    this.#deleteMinute = database.prepare('DELETE FROM minute_counts WHERE cellar = ? AND minute = ? AND code = ?')
  }

  /** Returns the number of the cellar. @throws AskUnusable if the stored row is damaged */
  addMinute({ cellar, minute, code, count }: MinuteCount, totals: TableTotals): number {
    const number = (name: string): number => this.#names.findOrAdd(name, totals)
    const place = { cellar: cellar === null ? allCellars : number(cellar), minute, code: number(code) }
    this.#setMinute(place, this.#storedMinute(place, totals) + count, totals)
    return place.cellar
  }

  /**
   * Takes a deleted count of a cellar from the count of all cellars. The old counts of all cellars may be deleted already.
   * @throws AskUnusable if the stored row is damaged
   */
  takeFromAll({ minute, code, count }: MinuteCountRow, totals: TableTotals): void {
    const place = { cellar: allCellars, minute, code }
    const stored = this.#storedMinute(place, totals)
    if (stored > count) this.#setMinute(place, stored - count, totals)
    else this.#deleteMinute.run(allCellars, minute, code)
  }

  /** Returns the number of the key. @throws AskUnusable if the stored row is damaged */
  addHour({ cellar, key, hour, code, count }: HourCount, totals: TableTotals): number {
    const number = (name: string): number => this.#names.findOrAdd(name, totals)
    const place = { key: number(key), hour, code: number(code), cellar: number(cellar) }
    const stored = this.#hour.get(place.key, hour, place.code)
    if (stored !== null) {
      if (hourCountChecksum(stored) !== stored.checksum) throw new AskUnusable('a row of "hour_counts" is damaged')
      totals.remove('hour_counts', stored.checksum)
    }
    const row = { ...place, cellar: stored?.cellar ?? place.cellar, count: count + (stored?.count ?? 0) }
    const checksum = hourCountChecksum(row)
    this.#writeHour.run(row.key, row.hour, row.code, row.cellar, row.count, checksum)
    totals.add('hour_counts', checksum)
    return row.key
  }

  close(): void {
    for (const one of [this.#minute, this.#hour, this.#writeMinute, this.#writeHour, this.#deleteMinute]) one.finalize()
  }

  /** Returns the stored count, and takes its row from the totals. */
  #storedMinute({ cellar, minute, code }: MinutePlace, totals: TableTotals): number {
    const stored = this.#minute.get(cellar, minute, code)
    if (stored === null) return 0
    if (minuteCountChecksum(stored) !== stored.checksum) throw new AskUnusable('a row of "minute_counts" is damaged')
    totals.remove('minute_counts', stored.checksum)
    return stored.count
  }

  #setMinute(place: MinutePlace, count: number, totals: TableTotals): void {
    const checksum = minuteCountChecksum({ ...place, count })
    this.#writeMinute.run(place.cellar, place.minute, place.code, count, checksum)
    totals.add('minute_counts', checksum)
  }
}

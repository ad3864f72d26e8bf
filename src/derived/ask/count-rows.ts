import type { Database, Statement } from 'bun:sqlite'
import type { MinuteCountRow } from '../../log/ask-index/ask-rows.ts'
import { allCellars } from '../../log/ask-index/ask-schema.ts'
import type { HourCount, MinuteCount } from '../../log/ask-index.ts'
import type { NameNumbers } from './name-numbers.ts'

export class CountRows {
  readonly #names: NameNumbers
  readonly #addToMinute: Statement<unknown, [number, number, number, number]>
  readonly #addToHour: Statement<unknown, [number, number, number, number, number]>
  readonly #takeFromMinute: Statement<unknown, [number, number, number, number]>
  readonly #deleteEmpty: Statement<unknown, [number, number, number]>

  constructor(database: Database, names: NameNumbers) {
    this.#names = names
    this.#addToMinute = database.prepare(`
      INSERT INTO minute_counts (cellar, minute, code, count) VALUES (?, ?, ?, ?)
        ON CONFLICT (cellar, minute, code) DO UPDATE SET count = count + excluded.count
    `)
    this.#addToHour = database.prepare(`
      INSERT INTO hour_counts (key, hour, code, cellar, count) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (key, hour, code) DO UPDATE SET count = count + excluded.count
    `)
    this.#takeFromMinute = database.prepare(
      'UPDATE minute_counts SET count = count - ? WHERE cellar = ? AND minute = ? AND code = ?',
    )
    this.#deleteEmpty = database.prepare(
      'DELETE FROM minute_counts WHERE cellar = ? AND minute = ? AND code = ? AND count <= 0',
    )
  }

  /** Returns the number of the cellar. */
  addMinute({ cellar, minute, code, count }: MinuteCount): number {
    const number = cellar === null ? allCellars : this.#names.findOrAdd(cellar)
    this.#addToMinute.run(number, minute, this.#names.findOrAdd(code), count)
    return number
  }

  /** The old counts of all cellars may be deleted already. */
  takeFromAll({ minute, code, count }: MinuteCountRow): void {
    this.#takeFromMinute.run(count, allCellars, minute, code)
    this.#deleteEmpty.run(allCellars, minute, code)
  }

  /** Returns the number of the key. */
  addHour({ cellar, key, hour, code, count }: HourCount): number {
    const number = this.#names.findOrAdd(key)
    this.#addToHour.run(number, hour, this.#names.findOrAdd(code), this.#names.findOrAdd(cellar), count)
    return number
  }
}

import type { Database, Statement } from 'bun:sqlite'
import type { MinuteCountRow } from '../../log/ask-index/ask-rows.ts'
import { allCellars } from '../../log/ask-index/ask-schema.ts'
import type { MinuteCount } from '../../log/ask-index.ts'
import type { FoldedHour } from './busy-minutes.ts'
import type { NameNumbers } from './name-numbers.ts'

export class CountRows {
  readonly #names: NameNumbers
  readonly #addToMinute: Statement<unknown, [number, number, number, number]>
  readonly #addToHour: Statement<unknown, number[]>
  readonly #deleteHours: Statement<unknown, [number, number]>
  readonly #takeFromMinute: Statement<unknown, [number, number, number, number]>
  readonly #deleteEmpty: Statement<unknown, [number, number, number]>

  constructor(database: Database, names: NameNumbers) {
    this.#names = names
    this.#addToMinute = database.prepare(`
      INSERT INTO minute_counts (cellar, minute, code, count) VALUES (?, ?, ?, ?)
        ON CONFLICT (cellar, minute, code) DO UPDATE SET count = count + excluded.count
    `)
    this.#addToHour = database.prepare(`
      INSERT INTO hour_counts (hour, key, code, cellar, count, minute, in_minute, busiest)
          VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
        ON CONFLICT (hour, key, code) DO UPDATE SET
          count = count + excluded.count,
          minute = excluded.minute,
          in_minute = excluded.in_minute + iif(minute = excluded.minute, in_minute, 0),
          busiest = max(busiest, excluded.busiest, ?10 + iif(minute = ?9, in_minute, 0))
    `)
    this.#deleteHours = database.prepare(`
      DELETE FROM hour_counts WHERE (hour, key, code) IN
        (SELECT hour, key, code FROM hour_counts WHERE hour < ? ORDER BY hour, key, code LIMIT ?)
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

  /** A minute can be in several flushes. Times of a key's readings never decrease, so only its last minute can go on. */
  addHour({ cellar, key, hour, code, count, minutes }: FoldedHour): void {
    this.#addToHour.run(
      hour,
      this.#names.findOrAdd(key),
      this.#names.findOrAdd(code),
      this.#names.findOrAdd(cellar),
      count,
      minutes.last,
      minutes.inLast,
      minutes.busiest,
      minutes.first,
      minutes.inFirst,
    )
  }

  /** Returns how many of at most `rowsMax` counts it has deleted. */
  deleteHoursBefore(hour: number, rowsMax: number): number {
    return this.#deleteHours.run(hour, rowsMax).changes
  }
}

import type { Database, Statement } from 'bun:sqlite'
import { hourOf, minuteOf } from '../../domain/calendar.ts'
import { askOthersTrimmed } from '../../limits.ts'
import { AskUnusable, type Forgotten } from '../ask-index.ts'
import { type MinuteCountRow, minuteCountChecksum } from './ask-rows.ts'
import { acceptedCode } from './ask-schema.ts'
import type { CountRows } from './count-rows.ts'
import type { NameNumbers } from './name-numbers.ts'
import type { SeenRows } from './seen-rows.ts'
import type { TableTotals } from './table-totals.ts'

type Deleted = { readonly checksum: number }

/** A table of counts whose old rows are deleted a few keys or cellars at a time, because reading the whole table takes long. */
class CountsInTurn {
  readonly #table: 'minute_counts' | 'hour_counts'
  readonly #deleteOld: Statement<Deleted, [number, number, number]>
  readonly #next: Statement<{ readonly owner: number }, [number]>
  /** The last key or cellar whose turn it was. */
  #last = -1

  constructor(database: Database, table: 'minute_counts' | 'hour_counts') {
    this.#table = table
    const [owner, time] = table === 'minute_counts' ? ['cellar', 'minute'] : ['key', 'hour']
    this.#deleteOld = database.prepare(`
      DELETE FROM ${table} WHERE (${owner}, ${time}, code) IN
        (SELECT ${owner}, ${time}, code FROM ${table} WHERE ${owner} = ? AND ${time} < ? ORDER BY ${time} LIMIT ?)
        RETURNING checksum
    `)
    this.#next = database.prepare(`SELECT ${owner} AS owner FROM ${table} WHERE ${owner} > ? ORDER BY ${owner} LIMIT 1`)
  }

  /** Deletes at most `rowsMax` rows, first those of the touched owners, then those of a few others. */
  trim(touched: ReadonlySet<number>, before: number, rowsMax: number, totals: TableTotals): void {
    let left = rowsMax
    const trimOne = (owner: number): void => {
      const deleted = this.#deleteOld.all(owner, before, left)
      for (const { checksum } of deleted) totals.remove(this.#table, checksum)
      left -= deleted.length
    }
    for (const owner of touched) if (left > 0) trimOne(owner)
    for (let turn = 0; turn < askOthersTrimmed && left > 0; turn++) {
      const next = this.#next.get(this.#last)
      this.#last = next?.owner ?? -1
      if (next === null) return
      trimOne(next.owner)
    }
  }

  close(): void {
    this.#deleteOld.finalize()
    this.#next.finalize()
  }
}

type Parts = { readonly names: NameNumbers; readonly counts: CountRows; readonly seen: SeenRows }

/** Deletes counts that are too old, and those of purged events. */
export class OldCounts {
  readonly #parts: Parts
  readonly #forgetHours: Readonly<Record<'accepted' | 'refused', Statement<Deleted, [number, number]>>>
  readonly #forgetMinutes: Readonly<Record<'accepted' | 'refused', Statement<MinuteCountRow, [number, number]>>>
  readonly minutes: CountsInTurn
  readonly hours: CountsInTurn

  constructor(database: Database, parts: Parts) {
    this.#parts = parts
    const hours = (isCode: string): string =>
      `DELETE FROM hour_counts WHERE key = ? AND hour < ? AND code ${isCode} ${acceptedCode} RETURNING checksum`
    const minutes = (isCode: string): string =>
      `DELETE FROM minute_counts WHERE cellar = ? AND minute < ? AND code ${isCode} ${acceptedCode} RETURNING *`
    this.#forgetHours = { accepted: database.prepare(hours('=')), refused: database.prepare(hours('<>')) }
    this.#forgetMinutes = { accepted: database.prepare(minutes('=')), refused: database.prepare(minutes('<>')) }
    this.minutes = new CountsInTurn(database, 'minute_counts')
    this.hours = new CountsInTurn(database, 'hour_counts')
  }

  /** @throws AskUnusable if a row that changes is damaged */
  forget({ what, key, cellar, beforeMs }: NonNullable<Forgotten['counts']>, totals: TableTotals): void {
    const { names, counts, seen } = this.#parts
    const keyNumber = names.find(key)
    if (keyNumber !== null) {
      const hours = this.#forgetHours[what].all(keyNumber, hourOf(beforeMs))
      for (const { checksum } of hours) totals.remove('hour_counts', checksum)
      if (what === 'accepted') seen.forgetBefore(keyNumber, minuteOf(beforeMs), totals)
    }
    const cellarNumber = names.find(cellar)
    if (cellarNumber === null) return
    for (const row of this.#forgetMinutes[what].all(cellarNumber, minuteOf(beforeMs))) {
      if (minuteCountChecksum(row) !== row.checksum) throw new AskUnusable('a row of "minute_counts" is damaged')
      totals.remove('minute_counts', row.checksum)
      counts.takeFromAll(row, totals)
    }
  }

  close(): void {
    for (const { accepted, refused } of [this.#forgetHours, this.#forgetMinutes]) {
      accepted.finalize()
      refused.finalize()
    }
    this.minutes.close()
    this.hours.close()
  }
}

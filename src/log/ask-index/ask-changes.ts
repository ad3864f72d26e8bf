import type { Database } from 'bun:sqlite'
import { hourOf, minuteOf } from '../../domain/calendar.ts'
import { askHoursKeptMs, askMinutesKeptMs, askTrimmedAtOnceMax } from '../../limits.ts'
import { type AskChange, AskUnusable } from '../ask-index.ts'
import { readAskHead, writeAskHead } from './ask-head.ts'
import { CountRows } from './count-rows.ts'
import { NameNumbers } from './name-numbers.ts'
import { OldCounts } from './old-counts.ts'
import { PlaceRows } from './place-rows.ts'
import { SeenRows } from './seen-rows.ts'
import { TableTotals } from './table-totals.ts'

/** Writes changes into the tables, each in one transaction. */
export class AskChanges {
  readonly #database: Database
  readonly #names: NameNumbers
  readonly #places: PlaceRows
  readonly #counts: CountRows
  readonly #seen: SeenRows
  readonly #old: OldCounts
  readonly #writeAll: { immediate(change: AskChange): void }

  constructor(database: Database) {
    this.#database = database
    this.#names = new NameNumbers(database)
    this.#places = new PlaceRows(database, this.#names)
    this.#counts = new CountRows(database, this.#names)
    this.#seen = new SeenRows(database, this.#names)
    this.#old = new OldCounts(database, { names: this.#names, counts: this.#counts, seen: this.#seen })
    this.#writeAll = database.transaction((change: AskChange) => this.#write(change))
  }

  /**
   * Writes the whole change or nothing. Ignores a change that the index includes already, so that no count is added twice.
   * @throws AskUnusable if a row that the change reads is damaged, or if the change does not continue the index
   * @throws SQLiteError
   */
  write(change: AskChange): void {
    try {
      this.#writeAll.immediate(change)
    } catch (cause) {
      this.#names.forgetCached()
      throw cause
    }
  }

  close(): void {
    for (const part of [this.#names, this.#places, this.#counts, this.#seen, this.#old]) part.close()
  }

  #write(change: AskChange): void {
    const head = readAskHead(this.#database)
    const position = head.foldedTo?.position ?? null
    if (position !== null && change.foldedTo.position <= position) return
    if (change.foldedFrom !== position) {
      throw new AskUnusable(`the change begins at position ${change.foldedFrom}, but the index ends at ${position}`)
    }
    const totals = new TableTotals(head.totals)
    for (const place of change.places) this.#places.add(place, totals)
    for (const minute of change.minutes) this.#places.addMinute(minute, totals)
    this.#addCounts(change, totals)
    for (const seen of change.seen) this.#seen.add(seen, totals)
    for (const { stream, keptFrom, counts } of change.forgotten) {
      this.#places.forgetBefore(stream, keptFrom, totals)
      if (counts !== null) this.#old.forget(counts, totals)
    }
    this.#seen.evict(totals)
    writeAskHead(this.#database, { logId: head.logId, foldedTo: change.foldedTo, totals: totals.all })
  }

  /** Adds the counts, and deletes old ones. A count that is too old already is not added: a new index reads old events, too. */
  #addCounts({ minuteCounts, hourCounts, nowMs }: AskChange, totals: TableTotals): void {
    const firstMinute = minuteOf(nowMs - askMinutesKeptMs)
    const firstHour = hourOf(nowMs - askHoursKeptMs)
    const cellars = new Set<number>()
    const keys = new Set<number>()
    for (const each of minuteCounts) if (each.minute >= firstMinute) cellars.add(this.#counts.addMinute(each, totals))
    let hours = 0
    for (const each of hourCounts) {
      hours += 1
      if (each.hour >= firstHour) keys.add(this.#counts.addHour(each, totals))
    }
    this.#old.minutes.trim(cellars, firstMinute, minuteCounts.length + askTrimmedAtOnceMax, totals)
    this.#old.hours.trim(keys, firstHour, hours + askTrimmedAtOnceMax, totals)
  }
}

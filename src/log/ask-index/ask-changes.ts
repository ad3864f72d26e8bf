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

/** All of a change but its counts of hours and its racks, which can be 20,000 rows. */
export type ChangeHead = Omit<AskChange, 'hourCounts' | 'seen'>

/** A change is written in parts, so that never all of its rows are in memory. Only the first part has a head. */
export type ChangePart = Pick<AskChange, 'hourCounts' | 'seen'> & {
  readonly head: ChangeHead | null
  readonly isLast: boolean
}

/** What is known of the change whose transaction is open. */
type Begun = {
  readonly head: ChangeHead
  readonly logId: string
  readonly totals: TableTotals
  /** The numbers of the keys whose hours were counted. */
  readonly keys: Set<number>
  hourCounts: number
}

/** Writes changes into the tables, each in one transaction. */
export class AskChanges {
  readonly #database: Database
  readonly #names: NameNumbers
  readonly #places: PlaceRows
  readonly #counts: CountRows
  readonly #seen: SeenRows
  readonly #old: OldCounts
  #begun: Begun | null = null

  constructor(database: Database) {
    this.#database = database
    this.#names = new NameNumbers(database)
    this.#places = new PlaceRows(database, this.#names)
    this.#counts = new CountRows(database, this.#names)
    this.#seen = new SeenRows(database, this.#names)
    this.#old = new OldCounts(database, { names: this.#names, counts: this.#counts, seen: this.#seen })
  }

  /**
   * Writes the whole change or nothing: the last part commits it, and a fault in any part undoes it. Ignores a change that the index
   * includes already, so that no count is added twice.
   * @throws AskUnusable if a row that the change reads is damaged, or if the change does not continue the index
   * @throws SQLiteError
   */
  write({ head, hourCounts, seen, isLast }: ChangePart): void {
    try {
      if (head !== null) this.#begun = this.#begin(head)
      if (this.#begun === null) return
      this.#addRows(this.#begun, { hourCounts, seen })
      if (isLast) this.#commit(this.#begun)
    } catch (cause) {
      this.#undo()
      throw cause
    }
  }

  /** Undoes a change whose last part has not come. */
  close(): void {
    this.#undo()
    for (const part of [this.#names, this.#places, this.#counts, this.#seen, this.#old]) part.close()
  }

  /** Returns `null` if the index includes the change already. */
  #begin(head: ChangeHead): Begun | null {
    this.#database.run('BEGIN IMMEDIATE')
    const { logId, foldedTo, totals: stored } = readAskHead(this.#database)
    const position = foldedTo?.position ?? null
    if (position !== null && head.foldedTo.position <= position) {
      this.#database.run('ROLLBACK')
      return null
    }
    if (head.foldedFrom !== position) {
      throw new AskUnusable(`the change begins at position ${head.foldedFrom}, but the index ends at ${position}`)
    }
    const totals = new TableTotals(stored)
    for (const place of head.places) this.#places.add(place, totals)
    for (const minute of head.minutes) this.#places.addMinute(minute, totals)
    return { head, logId, totals, keys: new Set(), hourCounts: 0 }
  }

  /** A count that is too old already is not added: a new index reads old events, too. */
  #addRows(begun: Begun, { hourCounts, seen }: Pick<ChangePart, 'hourCounts' | 'seen'>): void {
    const { head, totals, keys } = begun
    const firstHour = hourOf(head.nowMs - askHoursKeptMs)
    for (const each of hourCounts) {
      begun.hourCounts += 1
      if (each.hour >= firstHour) keys.add(this.#counts.addHour(each, totals))
    }
    for (const each of seen) this.#seen.add(each, totals)
  }

  #commit({ head, logId, totals, keys, hourCounts }: Begun): void {
    this.#addMinutes(head, totals)
    const firstHour = hourOf(head.nowMs - askHoursKeptMs)
    this.#old.hours.trim(keys, firstHour, hourCounts + askTrimmedAtOnceMax, totals)
    for (const { stream, keptFrom, counts } of head.forgotten) {
      this.#places.forgetBefore(stream, keptFrom, totals)
      if (counts !== null) this.#old.forget(counts, totals)
    }
    this.#seen.evict(totals)
    writeAskHead(this.#database, { logId, foldedTo: head.foldedTo, totals: totals.all })
    this.#database.run('COMMIT')
    this.#begun = null
  }

  /** Also deletes old counts. */
  #addMinutes({ minuteCounts, nowMs }: ChangeHead, totals: TableTotals): void {
    const firstMinute = minuteOf(nowMs - askMinutesKeptMs)
    const cellars = new Set<number>()
    for (const each of minuteCounts) if (each.minute >= firstMinute) cellars.add(this.#counts.addMinute(each, totals))
    this.#old.minutes.trim(cellars, firstMinute, minuteCounts.length + askTrimmedAtOnceMax, totals)
  }

  #undo(): void {
    if (this.#database.inTransaction) this.#database.run('ROLLBACK')
    this.#begun = null
    this.#names.forgetCached()
  }
}

import { type RowsTotal, totalWith, totalWithout } from '../rows-total.ts'
import type { AskTable, AskTotals } from './ask-head.ts'

/** The totals of all tables while a change is written. */
export class TableTotals {
  #totals: Record<AskTable, RowsTotal>

  constructor(totals: AskTotals) {
    this.#totals = { ...totals }
  }

  get all(): AskTotals {
    return this.#totals
  }

  count(table: AskTable): number {
    return this.#totals[table].count
  }

  add(table: AskTable, checksum: number): void {
    this.#totals[table] = totalWith(this.#totals[table], checksum)
  }

  remove(table: AskTable, checksum: number): void {
    this.#totals[table] = totalWithout(this.#totals[table], checksum)
  }
}

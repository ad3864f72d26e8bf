import { modelRowsPerStep } from '../limits.ts'

/** All loops of a flush together give way after the same number of rows. */
export class FlushSteps {
  #rows = 0

  /** A statement that changes no row counts as one. */
  isFull(rows = 1): boolean {
    this.#rows += rows
    if (this.#rows < modelRowsPerStep) return false
    this.#rows = 0
    return true
  }

  *each<Row>(rows: Iterable<Row>, write: (row: Row) => void): Generator<void> {
    for (const row of rows) {
      write(row)
      if (this.isFull()) yield
    }
  }
}

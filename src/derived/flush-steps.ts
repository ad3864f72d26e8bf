import { modelRowsPerStep } from '../limits.ts'

/** Counts the rows that a flush writes, so that all its loops together give way after the same number of rows. */
export class FlushSteps {
  #rows = 0

  /** Call it after each row, and yield if it returns true. A statement that changes no row counts as one. */
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

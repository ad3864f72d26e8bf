import type { Database, Statement } from 'bun:sqlite'
import { modelRowsPerStep } from '../../limits.ts'
import type { FlushSteps } from '../flush-steps.ts'

/** Each flush deletes old counts of the cellars that it adds to, and of this number of others in turn. */
const askOthersTrimmed = 8

/** Old rows are deleted a few cellars at a time, because reading the whole table takes long. */
export class OldMinutes {
  readonly #deleteOld: Statement<unknown, [number, number, number]>
  readonly #next: Statement<{ readonly cellar: number }, [number]>
  readonly #steps: FlushSteps
  #last = -1

  constructor(database: Database, steps: FlushSteps) {
    this.#steps = steps
    this.#deleteOld = database.prepare(`
      DELETE FROM minute_counts WHERE (cellar, minute, code) IN
        (SELECT cellar, minute, code FROM minute_counts WHERE cellar = ? AND minute < ? ORDER BY minute LIMIT ?)
    `)
    this.#next = database.prepare('SELECT cellar FROM minute_counts WHERE cellar > ? ORDER BY cellar LIMIT 1')
  }

  /** At most `rowsMax` rows, first those of the touched cellars, then those of a few others. */
  *trim(touched: ReadonlySet<number>, before: number, rowsMax: number): Generator<void> {
    let left = rowsMax
    for (const cellar of touched) left -= yield* this.#delete(cellar, before, left)
    for (let turn = 0; turn < askOthersTrimmed && left > 0; turn++) {
      const next = this.#next.get(this.#last)
      this.#last = next?.cellar ?? -1
      if (next === null) return
      left -= yield* this.#delete(next.cellar, before, left)
    }
  }

  *#delete(cellar: number, before: number, rowsMax: number): Generator<void, number> {
    for (let left = rowsMax; left > 0; ) {
      const atOnce = Math.min(left, modelRowsPerStep)
      const deleted = this.#deleteOld.run(cellar, before, atOnce).changes
      left -= deleted
      if (this.#steps.isFull(1 + deleted)) yield
      if (deleted < atOnce) return rowsMax - left
    }
    return rowsMax
  }
}

import type { Database, Statement } from 'bun:sqlite'
import { modelRowsPerStep } from '../../limits.ts'
import type { FlushSteps } from '../flush-steps.ts'

/** Each flush deletes old counts of the keys and cellars that it adds to, and of this number of others in turn. */
const askOthersTrimmed = 8

/** Old rows are deleted a few keys or cellars at a time, because reading the whole table takes long. */
export class OldCounts {
  readonly #deleteOld: Statement<unknown, [number, number, number]>
  readonly #next: Statement<{ readonly owner: number }, [number]>
  readonly #steps: FlushSteps
  #last = -1

  constructor(database: Database, table: 'minute_counts' | 'hour_counts', steps: FlushSteps) {
    this.#steps = steps
    const [owner, time] = table === 'minute_counts' ? ['cellar', 'minute'] : ['key', 'hour']
    this.#deleteOld = database.prepare(`
      DELETE FROM ${table} WHERE (${owner}, ${time}, code) IN
        (SELECT ${owner}, ${time}, code FROM ${table} WHERE ${owner} = ? AND ${time} < ? ORDER BY ${time} LIMIT ?)
    `)
    this.#next = database.prepare(`SELECT ${owner} AS owner FROM ${table} WHERE ${owner} > ? ORDER BY ${owner} LIMIT 1`)
  }

  /** At most `rowsMax` rows, first those of the touched owners, then those of a few others. */
  *trim(touched: ReadonlySet<number>, before: number, rowsMax: number): Generator<void> {
    let left = rowsMax
    for (const owner of touched) left -= yield* this.#delete(owner, before, left)
    for (let turn = 0; turn < askOthersTrimmed && left > 0; turn++) {
      const next = this.#next.get(this.#last)
      this.#last = next?.owner ?? -1
      if (next === null) return
      left -= yield* this.#delete(next.owner, before, left)
    }
  }

  *#delete(owner: number, before: number, rowsMax: number): Generator<void, number> {
    for (let left = rowsMax; left > 0; ) {
      const atOnce = Math.min(left, modelRowsPerStep)
      const deleted = this.#deleteOld.run(owner, before, atOnce).changes
      left -= deleted
      if (this.#steps.isFull(1 + deleted)) yield
      if (deleted < atOnce) return rowsMax - left
    }
    return rowsMax
  }
}

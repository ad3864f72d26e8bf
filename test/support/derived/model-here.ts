import { Database } from 'bun:sqlite'
import type { ModelKind } from '../../../src/derived/model.ts'
import { headTable, writeHead } from '../../../src/derived/model-file.ts'
import { foldedToOf } from '../../../src/domain/log-reference.ts'
import type { LogItem } from '../../../src/domain/reading/recorded-run.ts'

/** A model whose tables are in memory, for tests of what it folds. */
export const modelHere = (kind: ModelKind) => {
  const database = new Database(':memory:')
  database.run(headTable + kind.tables)
  let model = kind.open(database)
  let last: LogItem | undefined
  return {
    database,
    get pending() {
      return model.pending
    },
    fold: (items: readonly LogItem[]): void => {
      model.fold(items)
      last = items.at(-1) ?? last
    },
    /** Returns how many rows each step has changed. */
    flush: (nowMs: number): readonly number[] => {
      const steps: number[] = []
      if (last === undefined) return steps
      const changes = (): number =>
        database.query<{ changes: number }, []>('SELECT total_changes() AS changes').get()?.changes ?? 0
      const flush = model.flush(nowMs)
      for (let before = changes(), isDone = false; !isDone; before = changes()) {
        isDone = flush.next().done === true
        steps.push(changes() - before)
      }
      writeHead(database, foldedToOf(last))
      return steps
    },
    /** Forgets what was not flushed, as after a crash. */
    reopen: (): void => {
      model = kind.open(database)
    },
  }
}

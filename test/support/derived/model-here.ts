import { Database } from 'bun:sqlite'
import type { ModelKind } from '../../../src/derived/model.ts'
import type { LogItem } from '../../../src/domain/reading/recorded-run.ts'

/** A model whose tables are in memory, for tests of what it folds. */
export const modelHere = (kind: ModelKind) => {
  const database = new Database(':memory:')
  database.run(kind.tables)
  let model = kind.open(database)
  return {
    database,
    get pending() {
      return model.pending
    },
    fold: (items: readonly LogItem[]) => model.fold(items),
    /** Returns how many rows each step has changed. */
    flush: (nowMs: number): readonly number[] => {
      const steps: number[] = []
      const changes = (): number =>
        database.query<{ changes: number }, []>('SELECT total_changes() AS changes').get()?.changes ?? 0
      const flush = model.flush(nowMs)
      for (let before = changes(), isDone = false; !isDone; before = changes()) {
        isDone = flush.next().done === true
        steps.push(changes() - before)
      }
      return steps
    },
    /** Forgets what was not flushed, as after a crash. */
    reopen: (): void => {
      model = kind.open(database)
    },
  }
}

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
    flush: (nowMs: number): void => {
      for (const _ of model.flush(nowMs));
    },
    /** Forgets what was not flushed, as after a crash. */
    reopen: (): void => {
      model = kind.open(database)
    },
  }
}

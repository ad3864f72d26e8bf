import { Database, SQLiteError } from 'bun:sqlite'
import { askReaderCacheKib } from '../../limits.ts'
import { AskQueries } from '../../log/ask-index/queries/ask-queries.ts'
import { AskBusy, type AskQuestions, AskUnusable } from '../../log/ask-index.ts'
import { isPassing } from '../../log/sqlite/sqlite-faults.ts'
import type { DerivedStore } from '../derived-store.ts'
import { modelPath } from '../model-file.ts'
import { askModel } from './ask-model.ts'

type Store = Pick<DerivedStore, 'opening' | 'rebuild'>

/** Asks `ask.db` questions, with a connection of its own. When the follower has built the file anew, it opens the new one. */
export class AskReader {
  readonly #path: string
  readonly #store: Store
  #opened: Opened | null = null

  constructor(dataDir: string, store: Store) {
    this.#path = modelPath(dataDir, askModel.name)
    this.#store = store
  }

  /** @throws AskUnusable, AskBusy */
  ask<T>(use: (questions: AskQuestions) => T): T {
    const opened = this.#open()
    return this.#orFault(opened, () => use(opened.queries))
  }

  /** @throws AskUnusable, AskBusy */
  *inSteps<T>(begin: (questions: AskQuestions) => Generator<void, T>): Generator<void, T> {
    const opened = this.#open()
    const steps = this.#orFault(opened, () => begin(opened.queries))
    for (;;) {
      if (opened !== this.#opened) throw new AskBusy('Cannot read ask.db: it was closed or built anew')
      const step = this.#orFault(opened, () => steps.next())
      if (step.done === true) return step.value
      yield
    }
  }

  close(): void {
    this.#opened?.close()
    this.#opened = null
  }

  #open(): Opened {
    const opening = this.#store.opening(askModel.name)
    if (this.#opened !== null && this.#opened.opening === opening) return this.#opened
    this.close()
    if (opening === null) throw new AskBusy('Cannot read ask.db: it is not open yet')
    this.#opened = this.#orFault({ opening }, () => new Opened(this.#path, opening))
    return this.#opened
  }

  #orFault<T>({ opening }: Pick<Opened, 'opening'>, use: () => T): T {
    try {
      return use()
    } catch (cause) {
      if (cause instanceof SQLiteError && isPassing(cause)) {
        throw new AskBusy(`Cannot read ask.db: ${cause.message}`, { cause })
      }
      if (!(cause instanceof SQLiteError || cause instanceof AskUnusable)) throw cause
      this.#store.rebuild(askModel.name, opening, cause.message)
      throw new AskUnusable(`Cannot use ask.db: ${cause.message}`, { cause })
    }
  }
}

class Opened {
  readonly opening: number
  readonly queries: AskQueries
  readonly #database: Database

  constructor(path: string, opening: number) {
    this.opening = opening
    this.#database = new Database(path, { readwrite: true, create: false })
    try {
      this.#database.run(`PRAGMA cache_size = -${askReaderCacheKib}`)
      this.#database.run('PRAGMA query_only = ON')
      this.queries = new AskQueries(this.#database)
    } catch (cause) {
      this.#database.close()
      throw cause
    }
  }

  close(): void {
    this.queries.close()
    this.#database.close(true)
  }
}

/** A model of numbers, for tests of the thread for questions. */
import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { headTable, writeHead } from '../../../src/derived/model-file.ts'
import type { ModelQuestion } from '../../../src/derived/questions/question.ts'

export const numbersModel = { name: 'numbers', format: 3 }

type NumbersFile = { readonly format?: number; readonly logId?: string; readonly position: number | null }

/** Opens `numbers.db` as the follower does. */
export const makeNumbers = (dataDir: string, { format = 3, logId = 'log-1', position }: NumbersFile): Database => {
  const database = new Database(join(dataDir, 'numbers.db'))
  database.run('PRAGMA journal_mode = WAL')
  database.run(headTable)
  database.run('INSERT INTO of_log VALUES (?)', [logId])
  if (position !== null) moveHead(database, position)
  database.run('CREATE TABLE numbers (number INTEGER)')
  database.run(`PRAGMA user_version = ${format}`)
  return database
}

export const moveHead = (database: Database, position: number): void =>
  writeHead(database, { position, stream: 'readings-k1', revision: 0, id: 'id-1' })

const kind = <Parameters, Answer>(
  answer: ModelQuestion<Parameters, Answer>['answer'],
): ModelQuestion<Parameters, Answer> => ({ model: numbersModel, answer })

let endless = 0

export const numberQuestions = {
  sum: kind(function* (database, { below }: { readonly below: number }): Generator<void, number> {
    const sql = 'SELECT sum(number) AS sum FROM numbers WHERE number < ?'
    yield
    return database.query<{ sum: number | null }, [number]>(sql).get(below)?.sum ?? 0
  }),
  endless: kind(function* (): Generator<void, never> {
    endless += 1
    try {
      for (;;) yield
    } finally {
      endless -= 1
    }
  }),
  /** How many endless questions are open. */
  howManyEndless: kind(function* (): Generator<void, number> {
    yield
    return endless
  }),
  bug: kind(function* (database): Generator<void, unknown> {
    yield
    return database.query('SELECT * FROM missing').all()
  }),
  crash: kind(function* (): Generator<void, never> {
    setTimeout(() => {
      throw new Error('the thread has crashed')
    })
    for (;;) yield
  }),
}

/** For threads without a log: these questions are of a model. */
export const noSearches = () => ({
  open: (): never => {
    throw new Error('Cannot search: this thread has no log')
  },
  close: async (): Promise<void> => {},
})

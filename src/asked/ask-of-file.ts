import { type Database, SQLiteError } from 'bun:sqlite'
import type { Ask } from '../actors/search/ask-db.ts'
import { eventsAt } from '../actors/search/events-at.ts'
import type { LogReads } from '../actors/search/patient-reads.ts'
import { askModel } from '../derived/ask/ask-model.ts'
import { ModelUnusable } from '../derived/model-file.ts'
import { ModelNotReady, type ModelReaders } from '../derived/questions/model-readers.ts'
import type { SearchParts } from '../derived/questions/question-turns.ts'
import { AskQueries } from '../log/ask-index/queries/ask-queries.ts'
import { AskBusy, AskUnusable } from '../log/ask-index.ts'
import { isPassing } from '../log/sqlite/sqlite-faults.ts'

/** A question to `ask.db` takes steps for this time in each of its turns on the thread for questions. */
const questionTurnMs = 1

type FileParts = Pick<SearchParts, 'progress' | 'turn' | 'onDamage'> & {
  readonly readers: ModelReaders
  readonly log: Pick<LogReads, 'read'>
}

/** The main thread has waited for the follower already. */
export const askOfFile = ({ readers, log, progress, turn, onDamage }: FileParts): Ask => {
  const orFault = <T>(use: () => T): T => {
    try {
      return use()
    } catch (cause) {
      if (cause instanceof ModelNotReady || (cause instanceof SQLiteError && isPassing(cause)))
        throw new AskBusy(`Cannot read ask.db: ${cause.message}`, { cause })
      const isOfFile = cause instanceof AskUnusable || cause instanceof ModelUnusable
      if (!isOfFile && !(cause instanceof SQLiteError)) throw cause
      onDamage(cause.message)
      throw new AskUnusable(`Cannot use ask.db: ${cause.message}`, { cause })
    }
  }
  const queries = (): AskQueries => queriesOf(readers.open(askModel).database)
  const inTurns = async <T>(begin: (queries: AskQueries) => Generator<void, T>): Promise<T> => {
    await turn()
    const steps = orFault(() => begin(queries()))
    for (let beganMs = performance.now(); ; ) {
      const step = orFault(() => steps.next())
      if (step.done === true) return step.value
      if (performance.now() - beganMs < questionTurnMs) continue
      await turn()
      beganMs = performance.now()
    }
  }
  const position = (): number | null => {
    try {
      return orFault(() => readers.open(askModel).asOf?.position ?? null)
    } catch (fault) {
      if (fault instanceof AskBusy || fault instanceof AskUnusable) return null
      throw fault
    }
  }
  return {
    progress: async () => ({ ...progress, position: position() }),
    find: (filter, page) => inTurns((index) => index.find(filter, page)),
    placesOfId: (id) => inTurns((index) => index.placesOfId(id)),
    placeAt: async (at) => orFault(() => queries().placeAt(at)),
    minuteCounts: (cellar, from, to) => inTurns((index) => index.minuteCounts(cellar, from, to)),
    hourCounts: (key, from, to) => inTurns((index) => index.hourCounts(key, from, to)),
    refusalsOfCellar: (cellar, from, limit) => inTurns((index) => index.refusalsOfCellar(cellar, from, limit)),
    racksLike: (pattern, limit) => inTurns((index) => index.racksLike(pattern, limit)),
    positionOfMinute: async (minute) => orFault(() => queries().positionOfMinute(minute)),
    eventsAt: (places) => eventsAt(log, places),
  }
}

const prepared = new WeakMap<Database, AskQueries>()

/** Preparing the statements takes longer than a question. */
const queriesOf = (database: Database): AskQueries => {
  const known = prepared.get(database)
  if (known !== undefined) return known
  const queries = new AskQueries(database)
  prepared.set(database, queries)
  return queries
}

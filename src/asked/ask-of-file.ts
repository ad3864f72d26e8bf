import { type Database, SQLiteError } from 'bun:sqlite'
import type { Ask } from '../actors/search/ask-db.ts'
import { askModel } from '../derived/ask/ask-model.ts'
import { ModelUnusable } from '../derived/model-file.ts'
import { ModelNotReady, type ModelReaders } from '../derived/questions/model-readers.ts'
import type { SearchParts } from '../derived/questions/question-turns.ts'
import { type AskStatements, prepareAskStatements } from '../log/ask-index/queries/ask-statements.ts'
import { hourCountsOf, minuteCountsOf } from '../log/ask-index/queries/counts-by-time.ts'
import { keyDaysOf } from '../log/ask-index/queries/key-days.ts'
import { keyLoadsOf } from '../log/ask-index/queries/key-loads.ts'
import { keysOfRack } from '../log/ask-index/queries/keys-of-rack.ts'
import { searchPlaces } from '../log/ask-index/queries/place-search.ts'
import { placeAt, placesOfId } from '../log/ask-index/queries/places-of-id.ts'
import { positionOfMinute } from '../log/ask-index/queries/positions-recorded.ts'
import { racksOfKeys } from '../log/ask-index/queries/racks-of-keys.ts'
import { refusalsOfCellar } from '../log/ask-index/queries/refusals-of-cellar.ts'
import { AskBusy, AskUnusable } from '../log/ask-index.ts'
import { isPassing } from '../log/sqlite/sqlite-faults.ts'

/** A question to `ask.db` takes steps for this time in each of its turns on the thread for questions. */
const questionTurnMs = 1

type FileParts = Pick<SearchParts, 'progress' | 'turn' | 'onDamage'> & {
  readonly readers: ModelReaders
}

/** The main thread has waited for the follower already. */
export const askOfFile = ({ readers, progress, turn, onDamage }: FileParts): Ask => {
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
  const statements = (): AskStatements => statementsOf(readers.open(askModel).database)
  const inTurns = async <T>(begin: (index: AskStatements) => Generator<void, T>): Promise<T> => {
    await turn()
    const steps = orFault(() => begin(statements()))
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
    find: (filter, page) => inTurns((index) => searchPlaces(index, filter, page)),
    placesOfId: (id) => inTurns((index) => placesOfId(index, id)),
    placeAt: async (at) => orFault(() => placeAt(statements(), at)),
    minuteCounts: (cellar, from, to) => inTurns((index) => minuteCountsOf(index, cellar, { from, to })),
    hourCounts: (key, from, to) => inTurns((index) => hourCountsOf(index, key, { from, to })),
    refusalsOfCellar: (cellar, fromHour, limit) =>
      inTurns((index) => refusalsOfCellar(index, { cellar, fromHour, limit })),
    keyLoads: (wanted) => inTurns((index) => keyLoadsOf(index, wanted)),
    keyDays: (wanted) => inTurns((index) => keyDaysOf(index, wanted)),
    racksOfKeys: (keyIds) => inTurns((index) => racksOfKeys(index, keyIds)),
    keysOfRack: (rack, keys) => inTurns((index) => keysOfRack(index, { rack, keys })),
    positionOfMinute: async (minute) => orFault(() => positionOfMinute(statements(), minute)),
  }
}

const prepared = new WeakMap<Database, AskStatements>()

/** Preparing the statements takes longer than a question. */
const statementsOf = (database: Database): AskStatements => {
  const statements = prepared.get(database) ?? prepareAskStatements(database)
  prepared.set(database, statements)
  return statements
}

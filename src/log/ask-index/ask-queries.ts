import type { Database } from 'bun:sqlite'
import type { AskIndex } from '../ask-index.ts'

export type AskQuestions = Pick<
  AskIndex,
  | 'find'
  | 'placesOfId'
  | 'placeAt'
  | 'minuteCounts'
  | 'hourCounts'
  | 'refusalsOfCellar'
  | 'seenRacks'
  | 'positionOfMinute'
>

/** Placeholder: the queries are not written yet. */
export class AskQueries implements AskQuestions {
  readonly find: AskQuestions['find'] = missing
  readonly placesOfId: AskQuestions['placesOfId'] = missing
  readonly placeAt: AskQuestions['placeAt'] = missing
  readonly minuteCounts: AskQuestions['minuteCounts'] = missing
  readonly hourCounts: AskQuestions['hourCounts'] = missing
  readonly refusalsOfCellar: AskQuestions['refusalsOfCellar'] = missing
  readonly seenRacks: AskQuestions['seenRacks'] = missing
  readonly positionOfMinute: AskQuestions['positionOfMinute'] = missing

  constructor(readonly database: Database) {}

  close(): void {}
}

const missing = (): never => {
  throw new Error('The queries of ask.db are not written yet')
}

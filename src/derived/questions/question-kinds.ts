import { readingsKind } from '../readings/readings-model.ts'
import {
  type FoundKegs,
  findKegs,
  type KegsWanted,
  type ReadingPlace,
  recentReadings,
} from '../readings/readings-questions.ts'
import type { QuestionKind } from './question.ts'

export type CellarReadings = { readonly kegs: FoundKegs; readonly recent: readonly ReadingPlace[] }

/** One page of the kegs of a cellar, and the readings of the cellar that were accepted last. */
const cellarReadings: QuestionKind<KegsWanted, CellarReadings> = {
  model: readingsKind,
  *answer(database, wanted) {
    return { kegs: yield* findKegs(database, wanted), recent: recentReadings(database, wanted.cellar) }
  },
}

/** Every question of the pages. */
export const questionKinds = { cellarReadings }

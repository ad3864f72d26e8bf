import { type CountedMinutes, countMinutes, type MinutesWanted } from '../actors/search/count-minutes.ts'
import type { OfId } from '../actors/search/find-events.ts'
import { type IdWanted, idHere, type ListedHere, type ListWanted, listHere } from '../actors/search/list-here.ts'
import { readsOfPage } from '../actors/search/patient-reads.ts'
import { firstEventSince, positionBefore } from '../actors/search/position-of-instant.ts'
import { askModel } from '../derived/ask/ask-model.ts'
import type { ModelQuestion, SearchQuestion } from '../derived/questions/question.ts'
import { readingsKind } from '../derived/readings/readings-model.ts'
import {
  type FoundKegs,
  findKegs,
  type KegsWanted,
  type ReadingPlace,
  recentReadings,
} from '../derived/readings/readings-questions.ts'
import type { RecordedEvent } from '../domain/events.ts'
import { type ExportedRows, exportRows, type RowsWanted } from '../export/export-page.ts'
import type { AskQueries } from '../log/ask-index/queries/ask-queries.ts'
import type { AskQuestions } from '../log/ask-index.ts'
import { queriesOf } from './ask-of-file.ts'

export type CellarReadings = { readonly kegs: FoundKegs; readonly recent: readonly ReadingPlace[] }

/** One page of the kegs of a cellar, and the readings of the cellar that were accepted last. */
const cellarReadings: ModelQuestion<KegsWanted, CellarReadings> = {
  model: readingsKind,
  *answer(database, wanted) {
    return { kegs: yield* findKegs(database, wanted), recent: recentReadings(database, wanted.cellar) }
  },
}

/** One page of a list of events, or as much of it as is found in a short time. */
const findEvents: SearchQuestion<ListWanted, ListedHere> = {
  model: askModel,
  search: (reads, wanted) => listHere({ ...reads, pause: async () => {} }, wanted),
}

const firstSince: SearchQuestion<number, RecordedEvent | null> = {
  model: askModel,
  search: ({ log, ask }, atMs) => firstEventSince(readsOfPage(log), atMs, ask),
}

const before: SearchQuestion<number, number | null> = {
  model: askModel,
  search: ({ log, ask }, atMs) => positionBefore(readsOfPage(log), atMs, ask),
}

/** The readings of a request have no place in `ask.db`, so the log of that time is searched. */
const findId: SearchQuestion<IdWanted, OfId> = {
  model: askModel,
  search: idHere,
}

/** Rows of minutes for a list. */
const countedMinutes: SearchQuestion<MinutesWanted, CountedMinutes> = {
  model: askModel,
  search: ({ ask }, wanted) => countMinutes(ask, wanted),
}

/** The next rows of an export. */
const exportPage: SearchQuestion<RowsWanted, ExportedRows> = {
  model: askModel,
  search: exportRows,
}

type Of<Name extends keyof AskQuestions> = Parameters<AskQuestions[Name]>

/** A question to `ask.db` alone, which another page puts together with what it has in memory. */
const ofIndex = <Wanted, Answer>(
  answer: (index: AskQueries, wanted: Wanted) => Generator<void, Answer>,
): ModelQuestion<Wanted, Answer> => ({
  model: askModel,
  answer: (database, wanted) => answer(queriesOf(database), wanted),
})

/** Every question of the pages. */
export const questionKinds = {
  cellarReadings,
  findEvents,
  exportPage,
  firstSince,
  positionBefore: before,
  findId,
  countMinutes: countedMinutes,
  find: ofIndex((index, wanted: Of<'find'>) => index.find(...wanted)),
  placesOfId: ofIndex((index, wanted: Of<'placesOfId'>) => index.placesOfId(...wanted)),
  placeAt: ofIndex(function* (index, wanted: Of<'placeAt'>) {
    yield
    return index.placeAt(...wanted)
  }),
  minuteCounts: ofIndex((index, wanted: Of<'minuteCounts'>) => index.minuteCounts(...wanted)),
  hourCounts: ofIndex((index, wanted: Of<'hourCounts'>) => index.hourCounts(...wanted)),
  refusalsOfCellar: ofIndex((index, wanted: Of<'refusalsOfCellar'>) => index.refusalsOfCellar(...wanted)),
  seenRacks: ofIndex((index, wanted: Of<'seenRacks'>) => index.seenRacks(...wanted)),
  racksLike: ofIndex((index, wanted: Of<'racksLike'>) => index.racksLike(...wanted)),
  positionOfMinute: ofIndex(function* (index, wanted: Of<'positionOfMinute'>) {
    yield
    return index.positionOfMinute(...wanted)
  }),
}

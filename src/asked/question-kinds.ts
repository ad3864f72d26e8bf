import type { Database } from 'bun:sqlite'
import { type AttentionWanted, attentionHistory } from '../actors/attention/attention-history.ts'
import { signInHistory, signInPlaces } from '../actors/operator/sign-in-history.ts'
import type { Ask } from '../actors/search/ask-db.ts'
import { countMinutes } from '../actors/search/count-minutes.ts'
import { eventsAt, type PlaceInLog } from '../actors/search/events-at.ts'
import { eventAt, eventsOfReceipt, idHere, isNoPosition, type Receipt } from '../actors/search/find-events.ts'
import { listHere } from '../actors/search/list-events.ts'
import { firstEventSince, positionBefore } from '../actors/search/position-of-instant.ts'
import { askModel } from '../derived/ask/ask-model.ts'
import type { ModelQuestion, SearchQuestion, SearchReads } from '../derived/questions/question.ts'
import { kegList } from '../derived/readings/keg-list.ts'
import { racksLike, racksOf } from '../derived/readings/rack-list.ts'
import { readingsKind } from '../derived/readings/readings-model.ts'
import { recentReadings } from '../derived/readings/recent-readings.ts'
import type { FoundKegs, KegsWanted, ReadingPlace, ShownRack } from '../derived/readings/shown-kegs.ts'
import { silentLines } from '../derived/readings/silent-lines.ts'
import { eventsOfList, exportRows } from '../export/export-page.ts'
import { AskBusy, type KeyDaysWanted, type KeyLoadsWanted } from '../log/ask-index.ts'
import { cellarThen } from './cellar-and-keys-then.ts'
import { eventInContext } from './event-in-context.ts'
import { kegChart } from './keg-chart.ts'
import { refusedThen } from './refused-then.ts'
import { keyHistory } from './rows-of-history.ts'

export type CellarReadings = {
  readonly kegs: FoundKegs
  /** Of these kegs, if they are sorted by rack. Those with too many kegs are left out. */
  readonly racks: readonly ShownRack[]
  readonly recent: readonly ReadingPlace[]
}

const cellarReadings: ModelQuestion<KegsWanted, CellarReadings> = {
  model: readingsKind,
  *answer(database, wanted) {
    const kegs = yield* kegList(database, wanted)
    const isByRack = wanted.sort === 'name' && !wanted.silentFirst
    const names = new Set(isByRack ? kegs.kegs.map(({ rack }) => rack) : [])
    const racks = yield* racksOf(database, wanted, [...names])
    return { kegs, racks, recent: recentReadings(database, wanted.cellar) }
  },
}

const ofReadings = <Wanted, Answer>(
  answer: (database: Database, wanted: Wanted) => Generator<void, Answer>,
): ModelQuestion<Wanted, Answer> => ({ model: readingsKind, answer })

const ofLog = <Wanted, Answer>(
  search: (reads: SearchReads, wanted: Wanted) => Promise<Answer>,
): SearchQuestion<Wanted, Answer> => ({ model: askModel, search })

const ofIndex = <Wanted, Answer>(answer: (ask: Ask, wanted: Wanted) => Promise<Answer>) =>
  ofLog(({ ask }, wanted: Wanted): Promise<Answer> => {
    if (ask === null) throw new AskBusy('Cannot count events: this process has no ask.db')
    return answer(ask, wanted)
  })

type Of<Name extends keyof Ask> = Parameters<Ask[Name]>

/** The first event that was recorded at the instant or later, and the position of the event before it. */
const since = async ({ log, ask }: SearchReads, atMs: number) => {
  const event = await firstEventSince(log, atMs, ask)
  const [before] = event === null ? [] : await log.readAll({ from: event.position, direction: 'backwards', limit: 1 })
  return { event, before: before?.position ?? null }
}

export const questionKinds = {
  cellarReadings,
  kegChart,
  kegList: ofReadings(kegList),
  racksByName: ofReadings(racksLike),
  silentLines: ofReadings(silentLines),
  /** What is found in a short time. */
  findEvents: ofLog(listHere),
  /** Oldest first. */
  readEvents: ofLog(eventsOfList),
  exportPage: ofLog(exportRows),
  eventsAt: ofLog(({ log }, places: readonly PlaceInLog[]) => eventsAt(log, places)),
  eventInContext: ofLog(eventInContext),
  keyHistory: ofLog(keyHistory),
  cellarThen: ofLog(cellarThen),
  refusedThen: ofLog(refusedThen),
  firstSince: ofLog(since),
  positionBefore: ofLog(({ log, ask }, atMs: number) => positionBefore(log, atMs, ask)),
  receipt: ofLog(({ log }, receipt: Receipt) => eventsOfReceipt(log, receipt)),
  position: ofLog(({ log }, position: number) => eventAt(log, position)),
  isNoPosition: ofLog(({ log }, position: number) => isNoPosition(log, position)),
  findId: ofLog(idHere),
  attentionHistory: ofLog(({ log }, wanted: AttentionWanted) => attentionHistory(log, wanted)),
  signInHistory: ofLog(({ log }, email: string) => signInHistory(log, email)),
  signInPlaces: ofLog(({ log }, revisions: readonly number[]) => signInPlaces(log, revisions)),
  countMinutes: ofIndex(countMinutes),
  minuteCounts: ofIndex((ask, wanted: Of<'minuteCounts'>) => ask.minuteCounts(...wanted)),
  hourCounts: ofIndex((ask, wanted: Of<'hourCounts'>) => ask.hourCounts(...wanted)),
  keysOfRack: ofIndex((ask, wanted: Of<'keysOfRack'>) => ask.keysOfRack(...wanted)),
  keyLoads: ofIndex((ask, wanted: KeyLoadsWanted) => ask.keyLoads(wanted)),
  keyDays: ofIndex((ask, wanted: KeyDaysWanted) => ask.keyDays(wanted)),
  racksOfKeys: ofIndex((ask, { keyIds }: { readonly keyIds: readonly string[] }) => ask.racksOfKeys(keyIds)),
  refusalsOfCellar: ofIndex((ask, wanted: Of<'refusalsOfCellar'>) => ask.refusalsOfCellar(...wanted)),
}

/** Here and not where it is started: in the executable, a thread lies beside the module that names it. */
export const questionThread = new URL('./question-thread.ts', import.meta.url)

import type { questionKinds } from '../../asked/question-kinds.ts'
import type { DerivedStore } from '../../derived/derived-store.ts'
import type { Answered, Questions } from '../../derived/questions/question.ts'
import { AskBusy } from '../../log/ask-index.ts'
import type { EventLog } from '../../log/event-log.ts'
import type { Ask } from '../search/ask-db.ts'
import { eventsAt } from '../search/events-at.ts'

type AskParts = {
  readonly log: EventLog
  readonly store: Pick<DerivedStore, 'progress' | 'upTo'>
  readonly questions: Questions<typeof questionKinds>
}

/** Asks `ask.db` on the thread for questions. */
export const createAsk = ({ log, store, questions }: AskParts): Ask => {
  const atOnce = { isAtOnce: true }
  return {
    progress: () => store.progress('ask'),
    upTo: () => store.upTo('ask'),
    find: async (...wanted) => answerOf(await questions.ask('find', wanted, atOnce)),
    placesOfId: async (...wanted) => answerOf(await questions.ask('placesOfId', wanted, atOnce)),
    placeAt: async (...wanted) => answerOf(await questions.ask('placeAt', wanted, atOnce)),
    minuteCounts: async (...wanted) => answerOf(await questions.ask('minuteCounts', wanted, atOnce)),
    hourCounts: async (...wanted) => answerOf(await questions.ask('hourCounts', wanted, atOnce)),
    refusalsOfCellar: async (...wanted) => answerOf(await questions.ask('refusalsOfCellar', wanted, atOnce)),
    seenRacks: async (...wanted) => answerOf(await questions.ask('seenRacks', wanted, atOnce)),
    racksLike: async (...wanted) => answerOf(await questions.ask('racksLike', wanted, atOnce)),
    positionOfMinute: async (...wanted) => answerOf(await questions.ask('positionOfMinute', wanted, atOnce)),
    eventsAt: (places) => eventsAt(log, places),
  }
}

/** A damaged file is built again by now, so a later try can succeed. @throws AskBusy */
const answerOf = <Answer>(answered: Answered<Answer>): Answer => {
  if (answered.kind === 'answered') return answered.answer
  throw new AskBusy('Cannot read ask.db: it is not open yet, or it is built anew')
}

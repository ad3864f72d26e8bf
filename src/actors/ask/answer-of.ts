import type { Answered } from '../../derived/questions/question.ts'
import { Outage } from '../../log/event-log.ts'

/** @throws Outage if the question was not answered. */
export const answerOf = <Answer>(answered: Answered<Answer>): Answer => {
  if (answered.kind === 'answered') return answered.answer
  throw new Outage('Cannot search the log now: too many searches are open', 'not_written', 'unavailable')
}

/** For a part of a page that can be left out. */
export const answerOr = <Answer, Other>(answered: Answered<Answer>, otherwise: Other): Answer | Other =>
  answered.kind === 'answered' ? answered.answer : otherwise

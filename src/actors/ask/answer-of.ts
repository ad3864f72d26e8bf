import type { Answered } from '../../derived/questions/question.ts'
import { Outage } from '../../log/event-log.ts'

/** @throws Outage if nobody has answered: too many questions are open, or the thread for questions does not run. */
export const answerOf = <Answer>(answered: Answered<Answer>): Answer => {
  if (answered.kind === 'answered') return answered.answer
  throw new Outage('Cannot answer questions about the log now', 'not_written', 'unavailable')
}

/** The answer can lack something, so its reader must be told. */
export const isLate = (answered: Answered<unknown>): boolean => answered.kind !== 'answered' || answered.isBehind

export const answerOr = <Answer, Other>(answered: Answered<Answer>, otherwise: Other): Answer | Other =>
  answered.kind === 'answered' ? answered.answer : otherwise

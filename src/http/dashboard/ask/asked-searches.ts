/** Searches for pages. They happen on the thread for questions, or here in a process without one. Each throws Outage and UndecodableEvent. */
import type { Core } from '../../../actors/core.ts'
import type { OfId } from '../../../actors/search/find-events.ts'
import {
  type HereParts,
  type IdWanted,
  idHere,
  type ListedHere,
  type ListWanted,
  listHere,
} from '../../../actors/search/list-here.ts'
import { readsOfPage } from '../../../actors/search/patient-reads.ts'
import { firstEventSince, positionBefore } from '../../../actors/search/position-of-instant.ts'
import type { Answered } from '../../../derived/questions/question.ts'
import type { RecordedEvent } from '../../../domain/events.ts'
import { Outage } from '../../../log/event-log.ts'

export type SearchParts = Pick<HereParts, 'pause' | 'passedMs'> & {
  readonly core: Core
  /** The e-mail of the operator. */
  readonly owner: string
}

export const findList = async ({ core, owner, ...parts }: SearchParts, wanted: ListWanted): Promise<ListedHere> => {
  const { log, ask, questions, projections } = core
  const cellarOfKey = (keyId: string): string | null => projections.keys.get(keyId)?.cellar ?? null
  return questions === null
    ? listHere({ ...parts, log, ask, cellarOfKey }, wanted)
    : answerOf(await questions.ask('findEvents', wanted, { owner }))
}

/** The first event that was recorded at the instant or later. */
export const findSince = async ({ core, owner }: SearchParts, atMs: number): Promise<RecordedEvent | null> =>
  core.questions === null
    ? firstEventSince(readsOfPage(core.log), atMs, core.ask)
    : answerOf(await core.questions.ask('firstSince', atMs, { owner }))

/** A position: all events since the instant lie after it (`positionBefore`). */
export const findBefore = async ({ core, owner }: SearchParts, atMs: number): Promise<number | null> =>
  core.questions === null
    ? positionBefore(readsOfPage(core.log), atMs, core.ask)
    : answerOf(await core.questions.ask('positionBefore', atMs, { owner }))

/** The event with the id, or those of the request with the id. Ends after `logSearchMs`. */
export const findId = async ({ core, owner, passedMs }: SearchParts, wanted: IdWanted): Promise<OfId> => {
  const { log, ask, questions } = core
  return questions === null
    ? idHere({ log, ask, passedMs }, wanted)
    : answerOf(await questions.ask('findId', wanted, { owner }))
}

const answerOf = <Answer>(answered: Answered<Answer>): Answer => {
  if (answered.kind === 'answered') return answered.answer
  throw new Outage('Cannot search the log now: too many searches are open', 'not_written', 'unavailable')
}

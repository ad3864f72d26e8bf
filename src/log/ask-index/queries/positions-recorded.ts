import { minuteMs } from '../../../domain/calendar.ts'
import { recordedSkewMsMax } from '../../../limits.ts'
import type { AskStatements } from './ask-statements.ts'
import type { Range } from './place-walk.ts'

/**
 * Returns positions between which all events lie that were recorded from `since` on, and before `until` (ms). Other events lie
 * there too, so the caller compares `recordedAt`.
 *
 * Each row of `minutes` is of a later minute than all events before it. So `since` is exact. Events before `until` can lie behind
 * later ones (`recordedSkewMsMax`), and a clock that was ahead can have written one row far too early. So the range goes on to the
 * row after the next. A clock that was ahead for more than a minute can hide the events of the time that it was ahead.
 * @throws AskUnusable
 */
export const positionsRecorded = (
  { minuteFrom }: AskStatements,
  { since, until }: { readonly since: number | null; readonly until: number | null },
): Range => {
  const [first] = since === null ? [] : minuteFrom.all(Math.floor(since / minuteMs), 1)
  const later = until === null ? [] : minuteFrom.all(Math.ceil((until + recordedSkewMsMax) / minuteMs), 2)
  const [, end] = later
  return {
    after: since === null ? -1 : (first?.position ?? Number.POSITIVE_INFINITY) - 1,
    before: end?.position ?? Number.POSITIVE_INFINITY,
  }
}

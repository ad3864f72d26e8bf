import { minuteMs } from '../../../domain/calendar.ts'
import { type LogFilter, recordedUntil } from '../../../domain/search/event-filter.ts'
import type { MinutePosition } from '../../ask-index.ts'
import type { AskStatements } from './ask-statements.ts'
import type { Range } from './place-walk.ts'

/**
 * Other events lie in this range too, so the caller asks `matches`. Each row of `minutes` is of a later minute than all
 * events before it, so the beginning for `since` is exact. Events before `until` can lie behind later ones
 * (`recordedUntil`), and a clock that was ahead can have written one row far too early. So the range ends at the second row
 * behind `until`. A clock that was ahead for more than a minute can hide the events of that time. @throws AskUnusable
 */
export const positionsRecorded = ({ minuteFrom }: AskStatements, filter: LogFilter): Range => {
  const { since, until } = filter
  const [first] = since === null ? [] : minuteFrom.all(Math.floor(since / minuteMs), 1)
  const later = until === null ? [] : minuteFrom.all(Math.ceil(recordedUntil(filter) / minuteMs), 2)
  const [, end] = later
  return {
    after: since === null ? -1 : (first?.position ?? Number.POSITIVE_INFINITY) - 1,
    before: end?.position ?? Number.POSITIVE_INFINITY,
  }
}

/** The newest row whose minute is not after this one. @throws AskUnusable */
export const positionOfMinute = ({ minuteUpTo }: AskStatements, minute: number): MinutePosition | null =>
  minuteUpTo.all(minute)[0] ?? null

/**
 * Readings are one row a minute and cellar, so that a flood of them hides nothing else. A row has the position at which its
 * minute begins, so it has a place among events.
 */
import type { MinuteRow } from '../../../../views/log/log-types.ts'
import { paths } from '../../../../views/paths.ts'
import { answerOr, isLate } from '../../../actors/ask/answer-of.ts'
import type { Core } from '../../../actors/core-interface.ts'
import type { CountedMinute, MinutePage } from '../../../actors/search/count-minutes.ts'
import type { AskOptions } from '../../../derived/questions/question.ts'
import { instantText, minuteMs } from '../../../domain/calendar.ts'
import type { LogFilter } from '../../../domain/search/event-filter.ts'
import type { LogListParts } from './log-list-parts.ts'

const cellarsCountedByMinuteMax = 20

/** `isFull`: further minutes of the page were not counted. `isLate`: the newest readings may not be counted. */
export type MinuteRows = { readonly rows: readonly MinuteRow[]; readonly isFull: boolean; readonly isLate: boolean }

export type MinuteParts = LogListParts & Pick<AskOptions, 'isAtOnce'>

export const showsMinutes = ({ kind, type, actor, key, stream, cellar, rack }: LogFilter): boolean =>
  stream === null &&
  rack === undefined &&
  actor === null &&
  key === null &&
  ((kind === null && type === null) ||
    (cellar === null && (kind === 'readings' || kind === null) && (type === null || type === 'ReadingAccepted')))

/** In the direction of the page. `null` if `ask.db` cannot be used. */
export const minuteRows = async (
  { core, owner, nowMs, pause, isAtOnce }: MinuteParts,
  filter: Pick<LogFilter, 'cellar' | 'since' | 'until'>,
  page: MinutePage,
): Promise<MinuteRows | null> => {
  const { since, until } = filter
  const wanted = { cellars: countedCellars(core, filter), nowMs, since, until, page }
  const answered = await core.questions.ask('countMinutes', wanted, { owner, isAtOnce })
  await pause?.()
  const counted = answerOr(answered, null)
  if (counted === null) return null
  return { ...counted, rows: counted.minutes.map((one) => rowOf(core, one)), isLate: isLate(answered) }
}

const countedCellars = ({ projections }: Core, { cellar }: Pick<LogFilter, 'cellar'>): readonly (string | null)[] => {
  const all = projections.cellars.list().map((known) => known.cellar)
  if (cellar !== null) return all.filter((id) => id === cellar)
  return all.length > cellarsCountedByMinuteMax ? [null] : all
}

const rowOf = ({ projections }: Core, { minute, position, cellar, count }: CountedMinute): MinuteRow => {
  const [from, to] = [minute * minuteMs, (minute + 1) * minuteMs]
  const time = { from: instantText(from), to: instantText(to) }
  const title = cellar === null ? null : projections.cellars.titleAt(cellar, position)
  return {
    row: 'minute',
    position,
    at: from,
    cellar: cellar === null ? null : { id: cellar, title: title ?? cellar },
    count,
    href: cellar === null ? null : paths.log({ kind: 'readings', cellar, ...time }),
  }
}

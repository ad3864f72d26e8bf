import type { Bar, BarsView, LogQuery } from '../../../../views/log/log-types.ts'
import { paths } from '../../../../views/paths.ts'
import { answerOr } from '../../../actors/ask/answer-of.ts'
import { hourMs, instantText, minuteMs } from '../../../domain/calendar.ts'
import type { LogFilter } from '../../../domain/search/event-filter.ts'
import { minuteRowsMs } from '../../../limits.ts'
import type { LogListParts } from './log-list-parts.ts'

const barsMax = 60

const barsMs = [1, 2, 5, 10, 15, 30, 60].map((minutes) => minutes * minuteMs)
const hourBars = 48

type Count = { readonly at: number; readonly code: string; readonly count: number }

/** `null` if the filter leaves out readings, if its time is too old to be counted, or if `ask.db` cannot be used. */
export const barsOf = async (parts: LogListParts, { query, filter }: Filtered): Promise<BarsView | null> => {
  const { nowMs } = parts
  const isAboutReadings = filter.kind === null || filter.kind === 'readings' || filter.kind === 'refusals'
  if (!isAboutReadings || filter.type !== null || filter.actor !== null || filter.rack !== undefined) return null
  const isOfKey = filter.key !== null
  const end = Math.min(nowMs, filter.until ?? nowMs)
  const begin = Math.max(nowMs - minuteRowsMs, filter.since ?? end - (isOfKey ? 24 : 1) * hourMs)
  if (begin >= end) return null
  const barMs = isOfKey ? hourMs : barMsOf(end - begin)
  const [first, last] = [Math.floor(begin / barMs), Math.ceil(end / barMs)]
  const bars = Array.from({ length: last - first }, (_, at) => ({ at: (first + at) * barMs, accepted: 0, refused: 0 }))
  const counts = isOfKey
    ? await hourCounts(parts, filter.key, { begin: first, end: last })
    : await minuteCounts(parts, filter.cellar, { begin: first * barMs, end: last * barMs })
  await parts.pause?.()
  if (counts === null) return null
  for (const { at, code, count } of counts) {
    const bar = bars[Math.floor(at / barMs) - first]
    if (bar === undefined) continue
    if (code === 'accepted') bar.accepted += count
    else bar.refused += count
  }
  const href = (at: number): string =>
    paths.log({ ...query, at: '', before: null, after: null, from: instantText(at), to: instantText(at + barMs) })
  return {
    bars: bars.map((bar): Bar => ({ ...bar, href: href(bar.at) })),
    barMs,
    isChosen: filter.since !== null || filter.until !== null,
  }
}

type Filtered = { readonly query: LogQuery; readonly filter: LogFilter }
type Span = { readonly begin: number; readonly end: number }

const barMsOf = (spanMs: number): number => barsMs.find((ms) => spanMs / ms <= barsMax) ?? hourMs

type Counts = Promise<readonly Count[] | null>

const minuteCounts = async ({ core, owner }: LogListParts, cellar: string | null, { begin, end }: Span): Counts => {
  const wanted = [cellar, Math.floor(begin / minuteMs), Math.ceil(end / minuteMs)] as const
  const counts = answerOr(await core.questions.ask('minuteCounts', [...wanted], { owner, isAtOnce: true }), null)
  return counts?.map(({ minute, code, count }) => ({ at: minute * minuteMs, code, count })) ?? null
}

const hourCounts = async ({ core, owner }: LogListParts, key: string | null, { begin, end }: Span): Counts => {
  const wanted = [key ?? '', Math.max(begin, end - hourBars), end] as const
  const counts = answerOr(await core.questions.ask('hourCounts', [...wanted], { owner, isAtOnce: true }), null)
  return counts?.map(({ hour, code, count }) => ({ at: hour * hourMs, code, count })) ?? null
}

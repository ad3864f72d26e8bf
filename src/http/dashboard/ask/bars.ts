import type { Bar, BarsView, LogQuery } from '../../../../views/log/log-types.ts'
import { paths } from '../../../../views/paths.ts'
import type { Ask } from '../../../actors/search/ask-db.ts'
import { hourMs, instantText, minuteMs } from '../../../domain/calendar.ts'
import type { LogFilter } from '../../../domain/search/event-filter.ts'
import { barsMax, minuteRowsMs } from '../../../limits.ts'

/** Bars of these lengths begin at round times. */
const barsMs = [1, 2, 5, 10, 15, 30, 60].map((minutes) => minutes * minuteMs)
const hourBars = 48

type Count = { readonly at: number; readonly code: string; readonly count: number }

/** Returns `null` if the filter leaves out readings, or a time that is not counted any more. */
export const barsOf = async (ask: Ask, { query, filter }: Filtered, nowMs: number): Promise<BarsView | null> => {
  const isAboutReadings = filter.kind === null || filter.kind === 'readings' || filter.kind === 'refusals'
  if (!isAboutReadings || filter.type !== null || filter.actor !== null) return null
  const isOfKey = filter.key !== null
  const end = Math.min(nowMs, filter.until ?? nowMs)
  const begin = Math.max(nowMs - minuteRowsMs, filter.since ?? end - (isOfKey ? 24 : 1) * hourMs)
  if (begin >= end) return null
  const barMs = isOfKey ? hourMs : barMsOf(end - begin)
  const [first, last] = [Math.floor(begin / barMs), Math.ceil(end / barMs)]
  const bars = Array.from({ length: last - first }, (_, at) => ({ at: (first + at) * barMs, accepted: 0, refused: 0 }))
  const counts = isOfKey
    ? await hourCounts(ask, filter.key, { begin: first, end: last })
    : await minuteCounts(ask, filter.cellar, { begin: first * barMs, end: last * barMs })
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

const minuteCounts = async (ask: Ask, cellar: string | null, { begin, end }: Span): Promise<readonly Count[]> => {
  const counts = await ask.minuteCounts(cellar, Math.floor(begin / minuteMs), Math.ceil(end / minuteMs))
  return counts.map(({ minute, code, count }) => ({ at: minute * minuteMs, code, count }))
}

const hourCounts = async (ask: Ask, key: string | null, { begin, end }: Span): Promise<readonly Count[]> => {
  const counts = await ask.hourCounts(key ?? '', Math.max(begin, end - hourBars), end)
  return counts.map(({ hour, code, count }) => ({ at: hour * hourMs, code, count }))
}

/**
 * The readings of a cellar are one row a minute in the Log page, so that a flood of readings hides nothing else. A row has the
 * position at which its minute begins, so it has a place among events.
 */
import type { MinuteRow } from '../../../../views/log/log-types.ts'
import { paths } from '../../../../views/paths.ts'
import type { Ask, Core } from '../../../actors/core.ts'
import { instantText, minuteMs } from '../../../domain/calendar.ts'
import type { LogFilter } from '../../../domain/search/event-filter.ts'
import { cellarsCountedByMinuteMax, minuteRowsMs, minutesCountedPerTurn } from '../../../limits.ts'
import type { Pause } from '../show/pauses.ts'

export type MinutePage = {
  readonly direction: 'forwards' | 'backwards'
  /** A position; `null`: the end of the log. */
  readonly from: number | null
  /** The last position that the page shows; `null`: the other end of the log. */
  readonly to: number | null
  readonly limit: number
}

/** `isFull`: further minutes of the page were not counted. */
export type CountedMinutes = { readonly rows: readonly MinuteRow[]; readonly isFull: boolean }

export type MinuteParts = {
  readonly core: Core
  readonly ask: Ask
  readonly nowMs: number
  readonly pause: Pause
}

/** True if the list shows readings by minute: nothing but a cellar and a time narrows it down. */
export const showsMinutes = ({ kind, type, actor, key, stream, cellar }: LogFilter): boolean =>
  stream === null &&
  actor === null &&
  key === null &&
  ((kind === null && type === null) ||
    (cellar === null && (kind === 'readings' || kind === null) && (type === null || type === 'ReadingAccepted')))

/** Returns the rows in the direction of the page. The next page begins at a position, so rows of one position are never split. */
export const minuteRows = async (
  { core, ask, nowMs, pause }: MinuteParts,
  filter: LogFilter,
  { direction, from, to, limit }: MinutePage,
): Promise<CountedMinutes> => {
  const first = minuteOf(Math.max(nowMs - minuteRowsMs, filter.since ?? 0))
  const last = filter.until === null ? lastMinute(ask, nowMs) : minuteOf(Math.min(nowMs, filter.until - 1))
  const isBackwards = direction === 'backwards'
  const near = from === null ? null : cutAt(ask, { first, last }, from, isBackwards)
  const far = to === null ? null : cutAt(ask, { first, last }, isBackwards ? to - 1 : to + 1, !isBackwards)
  const [low, high] = isBackwards ? [far ?? first, near ?? last] : [near ?? first, far ?? last]
  const cellars = countedCellars(core, filter)
  const positions = new Map<number, number>()
  const rows: MinuteRow[] = []
  let done = 0
  for (; done <= high - low && rows.length < limit; done += minutesCountedPerTurn) {
    const begin = isBackwards ? Math.max(low, high - done - minutesCountedPerTurn + 1) : low + done
    const end = Math.min(high + 1, isBackwards ? high - done + 1 : begin + minutesCountedPerTurn)
    const counted: MinuteRow[] = []
    for (const cellar of cellars) counted.push(...(await rowsOf({ core, ask, positions }, cellar, { begin, end })))
    rows.push(...counted.toSorted((a, b) => (isBackwards ? b.at - a.at : a.at - b.at)))
    await pause()
  }
  const whole = wholeTies(rows, limit)
  return { rows: whole, isFull: whole.length < rows.length || done <= high - low }
}

/** After a clock was set back, the newest readings can have times after now: those of a stream never decrease. */
const lastMinute = (ask: Ask, nowMs: number): number =>
  Math.max(minuteOf(nowMs), ask.positionOfMinute(minuteOf(nowMs + minuteRowsMs))?.minute ?? 0)

const wholeTies = (rows: readonly MinuteRow[], limit: number): readonly MinuteRow[] => {
  let end = limit
  while (end < rows.length && rows[end]?.position === rows[end - 1]?.position) end += 1
  return rows.slice(0, end)
}

/** The identifier of a cellar; `null`: all cellars together. */
type Counted = string | null

/** With too many cellars, counts all cellars together. */
const countedCellars = ({ projections }: Core, { cellar }: LogFilter): readonly Counted[] => {
  const all = projections.cellars.list().map((known) => known.cellar)
  if (cellar !== null) return all.filter((id) => id === cellar)
  return all.length > cellarsCountedByMinuteMax ? [null] : all
}

type Minutes = { readonly begin: number; readonly end: number }

/** `positions` has those of the minutes that were asked for before: there can be twenty cellars. */
type RowParts = Pick<MinuteParts, 'core' | 'ask'> & { readonly positions: Map<number, number> }

const rowsOf = async (
  { core, ask, positions }: RowParts,
  cellar: Counted,
  { begin, end }: Minutes,
): Promise<readonly MinuteRow[]> => {
  const positionOf = (minute: number): number => {
    const position = positions.get(minute) ?? ask.positionOfMinute(minute)?.position ?? 0
    positions.set(minute, position)
    return position
  }
  const counts = await ask.minuteCounts(cellar, begin, end)
  return counts
    .filter(({ code }) => code === 'accepted')
    .map(({ minute, count }): MinuteRow => {
      const [from, to] = [minute * minuteMs, (minute + 1) * minuteMs]
      const time = { from: instantText(from), to: instantText(to) }
      const position = positionOf(minute)
      const title = cellar === null ? null : core.projections.cellars.titleAt(cellar, position)
      return {
        row: 'minute',
        position,
        at: from,
        cellar: cellar === null ? null : { id: cellar, title: title ?? cellar },
        count,
        href: cellar === null ? null : paths.log({ kind: 'readings', cellar, ...time }),
      }
    })
}

/** Positions grow with minutes, so a binary search finds the last minute before the position, or the first one after it. */
const cutAt = (
  ask: Ask,
  { first, last }: { readonly first: number; readonly last: number },
  position: number,
  isBackwards: boolean,
): number => {
  let [low, high] = [first, last + 1]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const begins = ask.positionOfMinute(middle)?.position ?? 0
    if (isBackwards ? begins >= position : begins > position) high = middle
    else low = middle + 1
  }
  return isBackwards ? low - 1 : low
}

const minuteOf = (ms: number): number => Math.floor(ms / minuteMs)

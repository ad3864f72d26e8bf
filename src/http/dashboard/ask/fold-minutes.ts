/**
 * Readings come in each minute, and people act rarely. So beyond some rows of minutes, all minutes between two events are
 * one row.
 */
import type { LogRow, MinuteRow, StretchRow } from '../../../../views/log/log-types.ts'
import { paths } from '../../../../views/paths.ts'
import { dayOf, instantText, minuteMs } from '../../../domain/calendar.ts'

export const minuteRowsShownMax = 60

type Stretch = [MinuteRow, ...MinuteRow[]]

/** In the direction of the page. Rows of one minute are folded together, or not at all. */
export const foldMinutes = (rows: readonly LogRow[]): readonly LogRow[] => {
  const pieces: (LogRow | Stretch)[] = []
  let shown = 0
  let shownAt: number | null = null
  for (const row of rows) {
    const last = pieces.at(-1)
    if (row.row !== 'minute') pieces.push(row)
    else if (shown < minuteRowsShownMax || row.at === shownAt) {
      shown += 1
      shownAt = row.at
      pieces.push(row)
    } else if (Array.isArray(last) && dayOf(last[0].at) === dayOf(row.at)) last.push(row)
    else pieces.push([row])
  }
  return pieces.map((piece) => (Array.isArray(piece) ? folded(piece) : piece))
}

const folded = (minutes: Stretch): MinuteRow | StretchRow => {
  const [first, ...others] = minutes
  if (others.length === 0) return first
  const [at, until] = [Math.min(...minutes.map((row) => row.at)), Math.max(...minutes.map((row) => row.at))]
  const positions = minutes.map(({ position }) => position)
  const cellar = others.every((row) => row.cellar?.id === first.cellar?.id) ? first.cellar : null
  const time = { from: instantText(at), to: instantText(until + minuteMs) }
  return {
    row: 'stretch',
    position: Math.min(...positions),
    newestPosition: Math.max(...positions),
    at,
    lastMinute: until,
    cellar,
    count: minutes.reduce((sum, { count }) => sum + count, 0),
    href: paths.log({ kind: 'readings', cellar: cellar?.id ?? '', ...time }),
  }
}

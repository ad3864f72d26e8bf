import { minuteMs } from '../../domain/calendar.ts'
import { minuteRowsMs } from '../../limits.ts'
import type { Ask } from './ask-db.ts'

const minutesCountedPerTurn = 60

export type MinutePage = {
  readonly direction: 'forwards' | 'backwards'
  /** `null`: the end of the log. */
  readonly from: number | null
  /** Included. `null`: the other end of the log. */
  readonly to: number | null
  readonly limit: number
}

/** `null`: all cellars together. */
type Counted = string | null

export type MinutesWanted = {
  readonly cellars: readonly Counted[]
  readonly nowMs: number
  readonly since: number | null
  readonly until: number | null
  readonly page: MinutePage
}

export type CountedMinute = {
  readonly minute: number
  readonly position: number
  readonly cellar: Counted
  readonly count: number
}

/** In the direction of the page. `isFull`: further minutes of the page were not counted. */
export type CountedMinutes = { readonly minutes: readonly CountedMinute[]; readonly isFull: boolean }

/** The next page begins at a position, so all rows of one position come on one page. @throws AskUnusable, AskBusy */
export const countMinutes = async (
  ask: Ask,
  { cellars, nowMs, since, until, page }: MinutesWanted,
): Promise<CountedMinutes> => {
  const { direction, from, to, limit } = page
  const first = minuteOf(Math.max(nowMs - minuteRowsMs, since ?? 0))
  const last = until === null ? await lastMinute(ask, nowMs) : minuteOf(Math.min(nowMs, until - 1))
  const isBackwards = direction === 'backwards'
  const near = from === null ? null : await cutAt(ask, { first, last }, from, isBackwards)
  const far = to === null ? null : await cutAt(ask, { first, last }, isBackwards ? to - 1 : to + 1, !isBackwards)
  const [low, high] = isBackwards ? [far ?? first, near ?? last] : [near ?? first, far ?? last]
  const positions = new Map<number, number>()
  const minutes: CountedMinute[] = []
  let done = 0
  for (; done <= high - low && minutes.length < limit; done += minutesCountedPerTurn) {
    const begin = isBackwards ? Math.max(low, high - done - minutesCountedPerTurn + 1) : low + done
    const end = Math.min(high + 1, isBackwards ? high - done + 1 : begin + minutesCountedPerTurn)
    const counted: CountedMinute[] = []
    for (const cellar of cellars) counted.push(...(await minutesOf({ ask, positions }, cellar, { begin, end })))
    minutes.push(...counted.toSorted((a, b) => (isBackwards ? b.minute - a.minute : a.minute - b.minute)))
  }
  const whole = wholeTies(minutes, limit)
  return { minutes: whole, isFull: whole.length < minutes.length || done <= high - low }
}

/** If a clock was set back, the newest readings have times after now: times of a stream never decrease. */
const lastMinute = async (ask: Ask, nowMs: number): Promise<number> =>
  Math.max(minuteOf(nowMs), (await ask.positionOfMinute(minuteOf(nowMs + minuteRowsMs)))?.minute ?? 0)

const wholeTies = (minutes: readonly CountedMinute[], limit: number): readonly CountedMinute[] => {
  let end = limit
  while (end < minutes.length && minutes[end]?.position === minutes[end - 1]?.position) end += 1
  return minutes.slice(0, end)
}

type Asking = { readonly ask: Ask; readonly positions: Map<number, number> }

const minutesOf = async (
  { ask, positions }: Asking,
  cellar: Counted,
  { begin, end }: { readonly begin: number; readonly end: number },
): Promise<readonly CountedMinute[]> => {
  const counted: CountedMinute[] = []
  for (const { minute, code, count } of await ask.minuteCounts(cellar, begin, end)) {
    if (code !== 'accepted') continue
    const position = positions.get(minute) ?? (await ask.positionOfMinute(minute))?.position ?? 0
    positions.set(minute, position)
    counted.push({ minute, position, cellar, count })
  }
  return counted
}

const cutAt = async (
  ask: Ask,
  { first, last }: { readonly first: number; readonly last: number },
  position: number,
  isBackwards: boolean,
): Promise<number> => {
  let [low, high] = [first, last + 1]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const begins = (await ask.positionOfMinute(middle))?.position ?? 0
    if (isBackwards ? begins >= position : begins > position) high = middle
    else low = middle + 1
  }
  return isBackwards ? low - 1 : low
}

const minuteOf = (ms: number): number => Math.floor(ms / minuteMs)

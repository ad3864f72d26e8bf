/** What `readings.db` knows of a chart. `asked/keg-chart.ts` adds what only the log has. */
import type { Database } from 'bun:sqlite'
import { dayMs, hourMs, minuteMs } from '../../domain/calendar.ts'
import { readHead } from '../model-file.ts'
import { AskedSteps, bucketOf, eachBucket, hourLevel, type Level, minuteLevel, storedRange } from './bucket-rows.ts'
import { cellarNamed, kegNumberOf, type LatestOfKeg, latestOf, timesKeptFrom } from './keg-rows.ts'
import {
  bucketCount,
  bucketFirst,
  bucketFirstAt,
  bucketLast,
  bucketLastAt,
  bucketLate,
  bucketLateMs,
  bucketMax,
  bucketMaxPosition,
  bucketMin,
  bucketMinPosition,
  bucketRepeats,
  bucketSecondSum,
  bucketSum,
} from './levels.ts'
import type { ChartGap, ChartPoint, Charts, ChartsWanted, KegChart, KegName } from './shown-kegs.ts'

/** Kegs on one time axis. Further ones are left out. */
export const chartedKegsMax = 32
export const chartStepsMs = [minuteMs, 5 * minuteMs, 15 * minuteMs, hourMs, 6 * hourMs, dayMs] as const
/** A gap is longer than this number of usual pauses, and of steps. */
const gapPausesMin = 3
const gapStepsMin = 1.5
/** Single readings of a range with more are not drawn, and need no buckets. */
export const singleReadingsMax = 500
/** The log is read for this number of kegs. The small charts of more kegs show neither single readings nor their extremes. */
export const kegsReadMax = 4
/** How far beyond the range the reading at the other end of a gap is looked for. */
export const gapHoursMax = 31 * 24

/** The lowest and the highest reading of a minute or an hour. */
export type DraftBucket = {
  readonly minPosition: number
  readonly maxPosition: number
}

export type DraftExtreme = { readonly value: number; readonly position: number }

export type DraftChart = Omit<KegChart, 'readings' | 'summary'> & {
  readonly summary: Omit<KegChart['summary'], 'lowest' | 'highest'>
  readonly lowest: DraftExtreme | null
  readonly highest: DraftExtreme | null
  /** Empty if the log is not read for them. */
  readonly buckets: readonly DraftBucket[]
}

export type DraftCharts = Omit<Charts, 'kegs'> & {
  readonly bucketMs: number
  /** The buckets count all events up to this one, and can count later ones. `null`: none. */
  readonly position: number | null
  readonly kegs: readonly (DraftChart | null)[]
}

export function* draftCharts(database: Database, wanted: ChartsWanted): Generator<void, DraftCharts> {
  const cellar = cellarNamed(database, wanted.cellar)
  const range = rangeOf(database, wanted)
  const kegs = wanted.kegs.slice(0, chartedKegsMax)
  if (cellar === null) return { ...range, position: null, keptFromMs: null, kegs: kegs.map(() => null) }
  const charted = new Map<number, DraftKeg>()
  const numbers = kegs.map((keg) => kegNumberOf(database, cellar.number, keg))
  for (const [index, number] of numbers.entries()) {
    const known = number === null ? null : latestOf(database, cellar.number, number)
    const name = kegs[index]
    if (number === null || known === null || name === undefined) continue
    charted.set(number, new DraftKeg({ name, known, range, toMs: wanted.toMs, isRead: kegs.length <= kegsReadMax }))
  }
  const level = levelOf(range.stepMs)
  const steps = new AskedSteps()
  const [from, to] = [range.fromMs / level.ms, range.toMs / level.ms]
  const all = { level, cellar: cellar.number, kegs: [...charted.keys()], from, to, steps }
  // A flush can come between two steps. If the buckets count later readings, there are too few single ones, and never others.
  const position = readHead(database)?.position ?? null
  yield* eachBucket(database, all, (keg, time, bucket) => charted.get(keg)?.take(time * level.ms, bucket))
  const drafts: (DraftChart | null)[] = []
  for (const [index, number] of numbers.entries()) {
    const name = kegs[index]
    if (name === undefined) continue
    const ahead = aheadOf(database, cellar.number, name, range)
    const draft = number === null ? undefined : charted.get(number)
    if (draft === undefined || number === null) {
      drafts.push(ahead.last === null ? null : onlyAhead(name, ahead.last * hourMs, ahead.readings))
      continue
    }
    const place = { cellar: cellar.number, keg: number, steps }
    const before = yield* lastBefore(database, place, range)
    const after = yield* firstAfter(database, place, { ...range, latestMs: draft.latestMs })
    drafts.push(draft.finish({ before, after, ahead: ahead.readings }))
    charted.delete(number)
  }
  return { ...range, position, keptFromMs: timesKeptFrom(cellar), kegs: drafts }
}

type Range = { readonly stepMs: number; readonly bucketMs: number; readonly fromMs: number; readonly toMs: number }

const rangeOf = (database: Database, { fromMs, toMs, stepsMax }: ChartsWanted): Range => {
  const kept = database.query<{ readonly first_minute: number | null }, []>('SELECT first_minute FROM kept').get()
  const minutesFromMs = (kept?.first_minute ?? Number.NEGATIVE_INFINITY) * minuteMs
  const stepMs =
    chartStepsMs.find((ms) => {
      const from = Math.floor(fromMs / ms)
      return Math.ceil(toMs / ms) - from <= stepsMax && (ms >= hourMs || from * ms >= minutesFromMs)
    }) ?? dayMs
  return {
    stepMs,
    bucketMs: levelOf(stepMs).ms,
    fromMs: Math.floor(fromMs / stepMs) * stepMs,
    toMs: Math.ceil(toMs / stepMs) * stepMs,
  }
}

const levelOf = (stepMs: number): Level => (stepMs < hourMs ? minuteLevel : hourLevel)

type Step = Omit<ChartPoint, 'mean'> & { readonly sum: number }

type KegParts = {
  readonly name: KegName
  readonly known: LatestOfKeg
  readonly range: Range
  /** As asked: a chart up to now ends with a step that is not over. */
  readonly toMs: number
  readonly isRead: boolean
}

type Neighbours = { readonly before: number | null; readonly after: number | null; readonly ahead: number }

class DraftKeg {
  readonly #parts: KegParts
  readonly #gapMs: number
  readonly #points: ChartPoint[] = []
  readonly #gaps: ChartGap[] = []
  #buckets: DraftBucket[] = []
  #step: Step | null = null
  #firstMs: number | null = null
  #lastMs: number | null = null
  #count = 0
  #sum = 0
  #late = 0
  #lateMs = 0
  #repeats = 0
  #lowest: DraftExtreme | null = null
  #highest: DraftExtreme | null = null

  constructor(parts: KegParts) {
    this.#parts = parts
    this.#gapMs = Math.max(gapPausesMin * (parts.known.pauseMs ?? 0), gapStepsMin * parts.range.stepMs)
  }

  get latestMs(): number {
    return this.#parts.known.latest.timeMs
  }

  take(timeMs: number, numbers: Float64Array): void {
    const { stepMs } = this.#parts.range
    const [min = 0, max = 0, count = 0] = [numbers[bucketMin], numbers[bucketMax], numbers[bucketCount]]
    const [minPosition = 0, maxPosition = 0] = [numbers[bucketMinPosition], numbers[bucketMaxPosition]]
    const [first = 0, last = 0] = [numbers[bucketFirst], numbers[bucketLast]]
    const sum = (numbers[bucketSum] ?? 0) + (numbers[bucketSecondSum] ?? 0)
    this.#noteTimes(timeMs + (numbers[bucketFirstAt] ?? 0), timeMs + (numbers[bucketLastAt] ?? 0))
    this.#count += count
    const isRead = this.#parts.isRead && this.#count <= singleReadingsMax
    if (isRead) this.#buckets.push({ minPosition, maxPosition })
    else this.#buckets = []
    this.#sum += sum
    this.#late += numbers[bucketLate] ?? 0
    this.#lateMs = Math.max(this.#lateMs, numbers[bucketLateMs] ?? 0)
    this.#repeats += numbers[bucketRepeats] ?? 0
    if (this.#lowest === null || min < this.#lowest.value) this.#lowest = { value: min, position: minPosition }
    if (this.#highest === null || max > this.#highest.value) this.#highest = { value: max, position: maxPosition }
    const before = this.#step
    const stepTimeMs = Math.floor(timeMs / stepMs) * stepMs
    if (before === null || before.timeMs !== stepTimeMs) {
      this.#endStep()
      this.#step = { timeMs: stepTimeMs, count, min, max, sum, first, last }
      return
    }
    this.#step = {
      ...before,
      count: before.count + count,
      min: Math.min(before.min, min),
      max: Math.max(before.max, max),
      sum: before.sum + sum,
      last,
    }
  }

  finish({ before, after, ahead }: Neighbours): DraftChart {
    this.#endStep()
    const { name, known, toMs } = this.#parts
    const { latest, acceptedMs, pauseMs } = known
    const first = this.#firstMs ?? after
    if (before !== null && first !== null) this.#gaps.unshift(...this.#gapBetween(before, first))
    if (this.#lastMs !== null && after !== null) this.#gaps.push(...this.#gapBetween(this.#lastMs, after))
    const isOpen = latest.timeMs < toMs && toMs - latest.timeMs > this.#gapMs
    if (isOpen) this.#gaps.push({ fromMs: latest.timeMs, toMs: null })
    return {
      ...name,
      latest,
      acceptedMs,
      pauseMs,
      points: this.#points,
      gaps: this.#gaps,
      summary: {
        count: this.#count,
        mean: meanOf(this.#sum, this.#count),
        late: { count: this.#late, maxMs: this.#lateMs },
        repeats: this.#repeats,
        ahead,
      },
      lowest: this.#lowest,
      highest: this.#highest,
      buckets: this.#buckets,
    }
  }

  /** Two readings of one bucket are never this far apart. */
  #noteTimes(firstMs: number, lastMs: number): void {
    if (this.#lastMs !== null) this.#gaps.push(...this.#gapBetween(this.#lastMs, firstMs))
    this.#firstMs ??= firstMs
    this.#lastMs = lastMs
  }

  #gapBetween(fromMs: number, toMs: number): readonly ChartGap[] {
    return toMs - fromMs > this.#gapMs ? [{ fromMs: Math.floor(fromMs), toMs: Math.floor(toMs) }] : []
  }

  #endStep(): void {
    if (this.#step === null) return
    const { sum, ...point } = this.#step
    this.#points.push({ ...point, mean: meanOf(sum, point.count) })
  }
}

/** `null` without a reading, or if the sum is too large for a number. */
export const meanOf = (sum: number, count: number): number | null =>
  count > 0 && Number.isFinite(sum) ? sum / count : null

type KegPlace = { readonly cellar: number; readonly keg: number; readonly steps: AskedSteps }

/** The time of the last reading before the range. `null`: there is none in `gapHoursMax`. */
function* lastBefore(database: Database, place: KegPlace, { fromMs, bucketMs }: Range): Generator<void, number | null> {
  const hour = Math.floor(fromMs / hourMs)
  const stored = storedRange(database, hourLevel, place.cellar)
  const [firstHour, lastHour] = [Math.max(hour - gapHoursMax, stored.from), Math.min(hour, stored.to - 1)]
  for (let time = lastHour; time >= firstHour; time -= 1) {
    if (place.steps.isFull()) yield
    const times = timesOf(bucketOf(database, hourLevel, { ...place, time }), time * hourMs)
    if (times === null || times.firstMs >= fromMs) continue
    if (times.lastMs < fromMs) return times.lastMs
    if (bucketMs === hourMs) return null
    for (let minute = fromMs / minuteMs - 1; minute >= time * 60; minute -= 1) {
      if (place.steps.isFull()) yield
      const found = timesOf(bucketOf(database, minuteLevel, { ...place, time: minute }), minute * minuteMs)
      if (found !== null) return found.lastMs
    }
    return null
  }
  return null
}

type RangeToLatest = Range & { readonly latestMs: number }

/** The time of the first reading after the range. `null`: there is none in `gapHoursMax`. */
function* firstAfter(
  database: Database,
  place: KegPlace,
  { toMs, bucketMs, latestMs }: RangeToLatest,
): Generator<void, number | null> {
  const hour = Math.floor(toMs / hourMs)
  const stored = storedRange(database, hourLevel, place.cellar)
  const firstHour = Math.max(hour, stored.from)
  const endHour = Math.min(hour + gapHoursMax, Math.floor(latestMs / hourMs) + 1)
  for (let time = firstHour; time < endHour; time += 1) {
    if (place.steps.isFull()) yield
    const times = timesOf(bucketOf(database, hourLevel, { ...place, time }), time * hourMs)
    if (times === null || times.lastMs < toMs) continue
    if (times.firstMs >= toMs) return times.firstMs
    if (bucketMs === hourMs) return null
    for (let minute = toMs / minuteMs; minute < (time + 1) * 60; minute += 1) {
      if (place.steps.isFull()) yield
      const found = timesOf(bucketOf(database, minuteLevel, { ...place, time: minute }), minute * minuteMs)
      if (found !== null) return found.firstMs
    }
    return null
  }
  return null
}

const timesOf = (numbers: Float64Array | null, beginMs: number) =>
  numbers === null
    ? null
    : { firstMs: beginMs + (numbers[bucketFirstAt] ?? 0), lastMs: beginMs + (numbers[bucketLastAt] ?? 0) }

type Ahead = { readonly last: number | null; readonly readings: number }

/** Readings that were too far ahead, of whole hours of the acceptance. */
const aheadOf = (database: Database, cellar: number, { rack, keg }: KegName, { fromMs, toMs }: Range): Ahead =>
  database
    .query<Ahead, [number, number, number, string, string]>(
      `SELECT max(hour) AS last, coalesce(sum(readings) FILTER (WHERE hour >= ? AND hour < ?), 0) AS readings FROM ahead
        WHERE cellar = ? AND rack = ? AND keg = ?`,
    )
    .get(Math.floor(fromMs / hourMs), Math.ceil(toMs / hourMs), cellar, rack, keg) ?? { last: null, readings: 0 }

const onlyAhead = (name: KegName, acceptedMs: number, ahead: number): DraftChart => ({
  ...name,
  latest: null,
  acceptedMs,
  pauseMs: null,
  points: [],
  gaps: [],
  summary: { count: 0, mean: null, late: { count: 0, maxMs: 0 }, repeats: 0, ahead },
  lowest: null,
  highest: null,
  buckets: [],
})

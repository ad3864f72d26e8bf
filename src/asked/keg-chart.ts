/** Adds the events of the log to a chart. The chart is shown without them if the log cannot be read now. */
import { eventAt } from '../actors/search/find-events.ts'
import { firstRevision } from '../actors/search/first-revision.ts'
import type { DraftQuestion, SearchReads } from '../derived/questions/question.ts'
import { faultData } from '../derived/questions/thrown-fault.ts'
import {
  type DraftChart,
  type DraftCharts,
  type DraftExtreme,
  draftCharts,
  kegsReadMax,
  singleReadingsMax,
} from '../derived/readings/keg-charts.ts'
import { readingsKind } from '../derived/readings/readings-model.ts'
import { lateMsMin } from '../derived/readings/roll-ups.ts'
import type { Charts, ChartsWanted, KegChart, SingleReading } from '../derived/readings/shown-kegs.ts'
import type { RecordedEvent } from '../domain/events.ts'
import { nanosecondsPastMs, parseTimestamp } from '../domain/reading/parse-timestamp.ts'
import { futureSkewMsMax, readPageEventsMax, recordedSkewMsMax } from '../limits.ts'

/** Events that are read to find single readings: some ms. */
export const singleReadingsReadMax = 4_000
/** Several keys can have sent the readings of a keg, for example before and after a rotation. */
export const streamsReadMax = 4

export const kegChart: DraftQuestion<ChartsWanted, DraftCharts, Charts> = {
  model: readingsKind,
  draft: draftCharts,
  complete: async (reads, { bucketMs: _, position, kegs, ...range }) => {
    if (kegs.length > kegsReadMax) return { ...range, kegs: kegs.map((keg) => keg && chartOf(keg, new Map(), null)) }
    const singles = new SingleReadings(reads.log, { ...range, position }, kegs)
    await ifReadable(singles.read(), undefined)
    const charts: (KegChart | null)[] = []
    for (const keg of kegs) {
      if (keg === null) charts.push(null)
      else charts.push(chartOf(keg, await ifReadable(extremesOf(reads.log, keg), new Map()), singles.of(keg)))
    }
    return { ...range, kegs: charts }
  },
}

const ifReadable = async <T>(read: Promise<T>, otherwise: T): Promise<T> => {
  try {
    return await read
  } catch (fault) {
    if (faultData(fault) === null) throw fault
    return otherwise
  }
}

type Log = SearchReads['log']
type Extremes = ReadonlyMap<number, SingleReading>

const extremesOf = async (log: Log, { lowest, highest }: DraftChart): Promise<Extremes> => {
  const found = new Map<number, SingleReading>()
  for (const position of new Set([lowest, highest].flatMap((extreme) => extreme?.position ?? []))) {
    const event = await eventAt(log, position)
    if (event?.type === 'ReadingAccepted') found.set(position, singleOf(event))
  }
  return found
}

const chartOf = (
  { buckets: _, lowest, highest, summary, ...chart }: DraftChart,
  extremes: Extremes,
  readings: readonly SingleReading[] | null,
): KegChart => {
  const known = (extreme: DraftExtreme | null): SingleReading | null =>
    extreme === null ? null : (extremes.get(extreme.position) ?? null)
  return { ...chart, readings, summary: { ...summary, lowest: known(lowest), highest: known(highest) } }
}

type Accepted = RecordedEvent<'ReadingAccepted'>

const timeOf = ({ data }: Accepted): number => {
  const timeMs = parseTimestamp(data.timestamp)
  return typeof timeMs === 'number' ? timeMs : Number.NaN
}

const singleOf = (event: Accepted): SingleReading => {
  const { stream, revision, position, data } = event
  return { timeMs: timeOf(event), value: data.value + 0, stream, revision, position }
}

type Found = { readonly nanoseconds: number; readonly single: SingleReading }

type RangeOfCharts = Pick<DraftCharts, 'fromMs' | 'toMs' | 'keptFromMs' | 'position'>

/**
 * Reads the streams of the keys that sent the readings, until it has as many as the chart counts. So it never leaves one out.
 */
class SingleReadings {
  readonly #log: Log
  readonly #range: RangeOfCharts
  readonly #wanted: readonly DraftChart[]
  readonly #found = new Map<DraftChart, Map<number, Found>>()
  readonly #streams = new Set<string>()
  #left = singleReadingsReadMax

  constructor(log: Log, range: RangeOfCharts, kegs: readonly (DraftChart | null)[]) {
    this.#log = log
    this.#range = range
    this.#wanted = kegs.filter((keg) => keg !== null).filter(({ summary }) => summary.count <= singleReadingsMax)
    for (const keg of this.#wanted) this.#found.set(keg, new Map())
  }

  async read(): Promise<void> {
    for (const { latest } of this.#wanted) if (latest !== null) await this.#readStream(latest.stream)
    for (let keg = this.#unfinished(); keg !== undefined; keg = this.#unfinished()) {
      const event = await this.#missingOf(keg)
      if (event === null || !(await this.#readStream(event.stream))) return
    }
  }

  of(keg: DraftChart): readonly SingleReading[] | null {
    const found = this.#found.get(keg)
    if (found === undefined || found.size !== keg.summary.count) return null
    return [...found.values()]
      .sort(
        (a, b) =>
          a.single.timeMs - b.single.timeMs || a.nanoseconds - b.nanoseconds || a.single.position - b.single.position,
      )
      .map(({ single }) => single)
  }

  #unfinished(): DraftChart | undefined {
    return this.#wanted.find((keg) => this.#found.get(keg)?.size !== keg.summary.count)
  }

  /** A reading of a stream that was not read. Its place is known, because it is the lowest or the highest of its bucket. */
  async #missingOf(keg: DraftChart): Promise<RecordedEvent | null> {
    const found = this.#found.get(keg)
    for (const { minPosition, maxPosition } of keg.buckets) {
      for (const position of [minPosition, maxPosition]) {
        if (found?.has(position) === false) return await eventAt(this.#log, position)
      }
    }
    return null
  }

  /** False if it was read before, or if too much would have to be read. */
  async #readStream(stream: string): Promise<boolean> {
    if (this.#streams.has(stream) || this.#streams.size === streamsReadMax) return false
    this.#streams.add(stream)
    const { fromMs, toMs } = this.#range
    const lateMs = Math.max(...this.#wanted.map(({ summary }) => summary.late.maxMs), lateMsMin)
    const acceptedFromMs = fromMs - futureSkewMsMax - recordedSkewMsMax
    let from = await firstRevision(this.#log, stream, ({ recordedAt }) => recordedAt >= acceptedFromMs)
    const [tooFar] = await this.#log.read(stream, { from: from + this.#left, limit: 1 })
    if (tooFar !== undefined && tooFar.recordedAt < toMs) return false
    while (this.#left > 0 && this.#unfinished() !== undefined) {
      const page = await this.#log.read(stream, { from, limit: Math.min(this.#left, readPageEventsMax) })
      const last = page.at(-1)
      for (const event of page) if (event.type === 'ReadingAccepted') this.#take(event)
      if (last === undefined || last.recordedAt > toMs + lateMs) break
      from = last.revision + 1
      this.#left -= page.length
    }
    return true
  }

  #take(event: Accepted): void {
    const { fromMs, toMs, keptFromMs, position } = this.#range
    if (position === null || event.position > position) return
    const timeMs = timeOf(event)
    const isDrawn = timeMs - event.recordedAt <= futureSkewMsMax && timeMs >= (keptFromMs ?? fromMs)
    if (!isDrawn || timeMs < fromMs || timeMs >= toMs) return
    const { rack, keg, timestamp } = event.data
    const wanted = this.#wanted.find((each) => each.rack === rack && each.keg === keg)
    if (wanted === undefined) return
    this.#found.get(wanted)?.set(event.position, { nanoseconds: nanosecondsPastMs(timestamp), single: singleOf(event) })
  }
}

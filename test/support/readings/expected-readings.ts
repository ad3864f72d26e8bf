import type { Database } from 'bun:sqlite'
import { CellReader } from '../../../src/derived/readings/cells.ts'
import {
  bucketCount,
  bucketFirst,
  bucketLast,
  bucketLate,
  bucketLateMs,
  bucketMax,
  bucketMaxPosition,
  bucketMin,
  bucketMinPosition,
  bucketRepeats,
  bucketSecondCount,
  bucketSecondSum,
  bucketSum,
} from '../../../src/derived/readings/levels.ts'
import { recentReadings } from '../../../src/derived/readings/recent-readings.ts'
import { nanosecondsPastMs, parseTimestamp } from '../../../src/domain/reading/parse-timestamp.ts'
import { eventsOfItems, type LogItem } from '../../../src/domain/reading/recorded-run.ts'
import { foundKegs } from './asked-kegs.ts'

export type Folded = {
  readonly rack: string
  readonly name: string
  readonly keyId: string
  readonly revision: number
  readonly position: number
  readonly recordedAt: number
  readonly keg: string
  readonly value: number
  readonly timestamp: string
  readonly ms: number
  readonly nanoseconds: number
  readonly isRepeat: boolean
}

type Bucket = Record<
  | 'count'
  | 'min'
  | 'max'
  | 'sum'
  | 'first'
  | 'last'
  | 'minPosition'
  | 'maxPosition'
  | 'late'
  | 'lateMs'
  | 'repeats'
  | 'secondCount'
  | 'secondSum',
  number
>
type Buckets = Record<string, Bucket>

export const byTime = (a: Folded, b: Folded): number =>
  a.ms - b.ms || a.nanoseconds - b.nanoseconds || a.position - b.position

/** The times of a keg are compared to 1/1024 of a ms. */
const timeOf = ({ ms, nanoseconds }: Folded): number => ms + Math.floor((nanoseconds * 1024) / 1e6) / 1024

/** `noted`: of readings that are not drawn, because their times are wrong. */
export type Accepted = { readonly arrivals: readonly number[]; readonly noted: readonly number[] }

type OfCellar = {
  kept: Folded[]
  recent: Folded[]
  ahead: Folded[]
  from: number
  acceptedFrom: number
  /** By keg. */
  readonly accepted: Map<string, Accepted>
}

/** What is left of the readings of each cellar after its purges. `kept` are those that are drawn. */
export const drawnOf = (history: readonly LogItem[]): Readonly<Record<string, OfCellar>> => {
  const cellars: Record<string, OfCellar> = {}
  const timesOfKegs = new Map<string, readonly number[]>()
  for (const event of eventsOfItems(history)) {
    if (event.type === 'ReadingsPurged') {
      const cellar = cellars[event.data.cellar]
      if (cellar === undefined) continue
      cellar.acceptedFrom = Math.max(cellar.acceptedFrom, event.data.acceptedBefore)
      cellar.from = cellar.acceptedFrom + 3_600_000
      cellar.kept = cellar.kept.filter(({ ms }) => ms >= cellar.from)
      for (const [keg, { arrivals, noted }] of cellar.accepted) {
        const isLeft = (ms: number) => ms >= cellar.acceptedFrom
        if (cellar.kept.some((reading) => reading.keg === keg))
          cellar.accepted.set(keg, { arrivals: arrivals.filter(isLeft), noted: noted.filter(isLeft) })
        else cellar.accepted.delete(keg)
      }
      cellar.recent = cellar.recent.filter(({ recordedAt }) => recordedAt >= cellar.acceptedFrom)
      cellar.ahead = cellar.ahead.filter(({ recordedAt }) => recordedAt >= cellar.acceptedFrom)
    }
    if (event.type !== 'ReadingAccepted') continue
    const { data, stream, ...at } = event
    cellars[data.cellar] ??= {
      kept: [],
      recent: [],
      ahead: [],
      from: Number.NEGATIVE_INFINITY,
      acceptedFrom: 0,
      accepted: new Map(),
    }
    const cellar = cellars[data.cellar]
    const ms = parseTimestamp(data.timestamp)
    if (cellar === undefined || typeof ms !== 'number') throw new Error('impossible')
    const keg = `${data.rack} / ${data.keg}`
    const value = data.value + 0
    const nanoseconds = nanosecondsPastMs(data.timestamp)
    const keyId = stream.slice(9)
    const one = { ...data, ...at, name: data.keg, keyId, keg, value, ms, nanoseconds, isRepeat: false }
    const times = timesOfKegs.get(`${data.cellar} / ${keg}`) ?? []
    const isRepeat = times.includes(timeOf(one)) && times.filter((time) => time > timeOf(one)).length < 24
    const reading = { ...one, isRepeat }
    if (at.recordedAt >= cellar.acceptedFrom) cellar.recent.push(reading)
    const isKept = ms <= at.recordedAt + 600_000 && ms >= cellar.from
    const { arrivals = [], noted = [] } = cellar.accepted.get(keg) ?? {}
    if (isKept) cellar.accepted.set(keg, { arrivals: [...arrivals, at.recordedAt], noted })
    else if (cellar.accepted.has(keg)) cellar.accepted.set(keg, { arrivals, noted: [...noted, at.recordedAt] })
    if (isKept) {
      cellar.kept.push(reading)
      timesOfKegs.set(`${data.cellar} / ${keg}`, [...times, timeOf(one)])
    }
    if (ms > at.recordedAt + 600_000 && at.recordedAt >= cellar.acceptedFrom) cellar.ahead.push(reading)
  }
  return cellars
}

/** Computes from the events what the model must say, one rule after the other. */
export const expectedOf = (history: readonly LogItem[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(drawnOf(history)).map(([name, { kept, recent, ahead, accepted }]) => {
      const lists = Map.groupBy(kept, ({ keg }) => keg)
      const kegs = Object.fromEntries([...lists].map(([keg, readings]) => [keg, kegOf(readings, accepted.get(keg))]))
      const last = recent.sort((a, b) => b.recordedAt - a.recordedAt || b.position - a.position).slice(0, 50)
      const hours = Object.groupBy(ahead, ({ keg, recordedAt }) => `${keg} / ${Math.floor(recordedAt / 3_600_000)}`)
      const counts = Object.fromEntries(Object.entries(hours).map(([hour, readings]) => [hour, readings?.length]))
      return [name, { kegs, ahead: counts, recent: last.map(({ position }) => position) }]
    }),
  )

const kegOf = (readings: readonly Folded[], accepted: Accepted | undefined) => {
  const arrivals = arrivalsOf(accepted)
  const sorted = readings.toSorted(byTime)
  const latest = sorted.at(-1)
  return {
    latest: latest && [
      latest.keyId,
      latest.revision,
      latest.position,
      latest.recordedAt,
      latest.value,
      latest.timestamp,
    ],
    accepted: arrivals.accepted,
    pause: arrivals.pause,
    minutes: bucketsOf(readings, 60_000),
    hours: bucketsOf(readings, 3_600_000),
  }
}

export const arrivalsOf = ({ arrivals, noted }: Accepted = { arrivals: [], noted: [] }) => {
  const accepted = [...new Set(arrivals)].sort((a, b) => a - b).slice(-12)
  const pauses = accepted.slice(1).map((ms, index) => ms - (accepted[index] ?? 0))
  const sorted = pauses.sort((a, b) => a - b)
  return {
    accepted: Math.max(...accepted, ...noted),
    pause: sorted[Math.ceil(sorted.length / 2) - 1] ?? null,
    judged: sorted.at(sorted.length < 11 ? -1 : -2) ?? null,
  }
}

const bucketsOf = (readings: readonly Folded[], bucketMs: number): Buckets => {
  const buckets: Buckets = {}
  for (const [time, list] of Map.groupBy(readings, ({ ms }) => Math.floor(ms / bucketMs))) {
    const sorted = list.toSorted(byTime)
    const values = list.map(({ value }) => value)
    const [min, max] = [Math.min(...values), Math.max(...values)]
    const lates = list.map(({ recordedAt, ms }) => recordedAt - ms).filter((lateMs) => lateMs > 60_000)
    const isSecond = ({ ms }: Folded): boolean => bucketMs === 3_600_000 && ms % bucketMs >= 1_800_000
    const second = list.filter(isSecond)
    buckets[time] = {
      count: list.length,
      min,
      max,
      sum: sumOf(list.filter((reading) => !isSecond(reading))),
      first: sorted[0]?.value ?? 0,
      last: sorted.at(-1)?.value ?? 0,
      minPosition: list.find(({ value }) => value === min)?.position ?? 0,
      maxPosition: list.find(({ value }) => value === max)?.position ?? 0,
      late: lates.length,
      lateMs: Math.max(0, ...lates),
      repeats: list.filter(({ isRepeat }) => isRepeat).length,
      secondCount: second.length,
      secondSum: sumOf(second),
    }
  }
  return buckets
}

const sumOf = (readings: readonly Folded[]): number => readings.reduce((sum, { value }) => sum + value, 0)

/** What the file of a model says, without the numbers of its kegs, which depend on the order in which they were met. */
export const everythingOf = (database: Database): Readonly<Record<string, unknown>> => {
  const cellars = database.query<{ number: number; name: string }, []>('SELECT number, name FROM cellars').all()
  return Object.fromEntries(
    cellars.map(({ number: cellar, name }) => {
      const found = foundKegs(database, { cellar: name, perPage: 100_000 })
      const kegs = found.kegs.map(({ rack, keg, latest, acceptedMs, pauseMs }) => [
        `${rack} / ${keg}`,
        {
          latest: [latest.keyId, latest.revision, latest.position, latest.recordedAt, latest.value, latest.timestamp],
          accepted: acceptedMs,
          pause: pauseMs,
          minutes: storedBuckets(database, 'minutes', { cellar, rack, keg }),
          hours: storedBuckets(database, 'hours', { cellar, rack, keg }),
        },
      ])
      const recent = recentReadings(database, name).map(({ position }) => position)
      const ahead = database
        .query<{ readonly name: string; readonly readings: number }, [number]>(
          "SELECT rack || ' / ' || keg || ' / ' || hour AS name, readings FROM ahead WHERE cellar = ?",
        )
        .all(cellar)
        .map(({ name: hour, readings }) => [hour, readings])
      return [name, { kegs: Object.fromEntries(kegs), ahead: Object.fromEntries(ahead), recent }]
    }),
  )
}

const storedBuckets = (
  database: Database,
  table: string,
  { cellar, rack, keg }: { readonly cellar: number; readonly rack: string; readonly keg: string },
): Buckets => {
  const named = database
    .query<{ number: number }, [number, string, string]>(
      'SELECT number FROM kegs WHERE cellar = ? AND rack = ? AND keg = ?',
    )
    .get(cellar, rack, keg)
  const rows = database
    .query<{ time: number; buckets: Uint8Array; cell: number }, [number]>(
      `SELECT time, buckets, cell FROM ${table} WHERE cellar = ? ORDER BY time`,
    )
    .all(cellar)
  const buckets: Buckets = {}
  for (const { time, cell, buckets: bytes } of rows) {
    const reader = new CellReader(bytes)
    if (named === null || Math.floor(named.number / 32) !== cell || !reader.find(named.number)) continue
    const numbers = (from: number): number => reader.numbers[from] ?? 0
    buckets[time] = {
      count: numbers(bucketCount),
      min: numbers(bucketMin),
      max: numbers(bucketMax),
      sum: numbers(bucketSum),
      first: numbers(bucketFirst),
      last: numbers(bucketLast),
      minPosition: numbers(bucketMinPosition),
      maxPosition: numbers(bucketMaxPosition),
      late: numbers(bucketLate),
      lateMs: numbers(bucketLateMs),
      repeats: numbers(bucketRepeats),
      secondCount: numbers(bucketSecondCount),
      secondSum: numbers(bucketSecondSum),
    }
  }
  return buckets
}

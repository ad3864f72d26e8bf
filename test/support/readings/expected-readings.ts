import type { Database } from 'bun:sqlite'
import { CellReader } from '../../../src/derived/readings/cells.ts'
import { findKegs, recentReadings } from '../../../src/derived/readings/readings-questions.ts'
import { nanosecondsPastMs, parseTimestamp } from '../../../src/domain/reading/parse-timestamp.ts'
import { eventsOfItems, type LogItem } from '../../../src/domain/reading/recorded-run.ts'

export const answerOf = <T>(question: Generator<void, T>): T => {
  for (let step = question.next(); ; step = question.next()) if (step.done === true) return step.value
}

type Folded = {
  readonly keyId: string
  readonly revision: number
  readonly position: number
  readonly recordedAt: number
  readonly keg: string
  readonly value: number
  readonly timestamp: string
  readonly ms: number
  readonly nanoseconds: number
}

type Buckets = Record<string, { count: number; min: number; max: number; sum: number; first: number; last: number }>

const byTime = (a: Folded, b: Folded): number => a.ms - b.ms || a.nanoseconds - b.nanoseconds || a.position - b.position

/** The points of a keg are ordered to 1/1024 of a ms. */
const timeOf = ({ ms, nanoseconds }: Folded): number => ms + Math.floor((nanoseconds * 1024) / 1e6) / 1024
const byPointTime = (a: Folded, b: Folded): number => timeOf(a) - timeOf(b) || a.position - b.position

/** Computes from the events what the model must say, one rule after the other. */
export const expectedOf = (history: readonly LogItem[]): Readonly<Record<string, unknown>> => {
  const cellars: Record<string, { kept: Folded[]; recent: Folded[]; from: number; acceptedFrom: number }> = {}
  for (const event of eventsOfItems(history)) {
    if (event.type === 'ReadingsPurged') {
      const cellar = cellars[event.data.cellar]
      if (cellar === undefined) continue
      cellar.acceptedFrom = Math.max(cellar.acceptedFrom, event.data.acceptedBefore)
      cellar.from = cellar.acceptedFrom + 3_600_000
      cellar.kept = cellar.kept.filter(({ ms }) => ms >= cellar.from)
      cellar.recent = cellar.recent.filter(({ recordedAt }) => recordedAt >= cellar.acceptedFrom)
    }
    if (event.type !== 'ReadingAccepted') continue
    const { data, stream, ...at } = event
    cellars[data.cellar] ??= { kept: [], recent: [], from: Number.NEGATIVE_INFINITY, acceptedFrom: 0 }
    const cellar = cellars[data.cellar]
    const ms = parseTimestamp(data.timestamp)
    if (cellar === undefined || typeof ms !== 'number') throw new Error('impossible')
    const keg = `${data.rack} / ${data.keg}`
    const value = data.value + 0
    const reading = {
      ...data,
      ...at,
      keyId: stream.slice(9),
      keg,
      value,
      ms,
      nanoseconds: nanosecondsPastMs(data.timestamp),
    }
    if (at.recordedAt >= cellar.acceptedFrom) cellar.recent.push(reading)
    if (ms <= at.recordedAt + 600_000 && ms >= cellar.from) cellar.kept.push(reading)
  }
  return Object.fromEntries(
    Object.entries(cellars).map(([name, { kept, recent }]) => {
      const lists = Map.groupBy(kept, ({ keg }) => keg)
      const kegs = Object.fromEntries([...lists].map(([keg, readings]) => [keg, kegOf(readings)]))
      const last = recent.sort((a, b) => b.recordedAt - a.recordedAt || b.position - a.position).slice(0, 50)
      return [name, { kegs, recent: last.map(({ position }) => position) }]
    }),
  )
}

const kegOf = (readings: readonly Folded[]) => {
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
    values: readings
      .toSorted(byPointTime)
      .slice(-24)
      .map(({ value }) => value),
    ...arrivalsOf(sorted),
    minutes: bucketsOf(readings, 60_000),
    hours: bucketsOf(readings, 3_600_000),
  }
}

const arrivalsOf = (sorted: readonly Folded[]) => {
  const highest = new Map<number, Folded>()
  for (const reading of sorted) highest.set(reading.recordedAt, reading)
  const last = [...highest.values()].sort((a, b) => timeOf(a) - timeOf(b) || a.recordedAt - b.recordedAt).slice(-6)
  const accepted = last.map(({ recordedAt }) => recordedAt).sort((a, b) => a - b)
  const pauses = accepted.slice(1).map((ms, index) => ms - (accepted[index] ?? 0))
  return { accepted: accepted.at(-1), pause: pauses.sort((a, b) => a - b)[Math.ceil(pauses.length / 2) - 1] ?? null }
}

const bucketsOf = (readings: readonly Folded[], bucketMs: number): Buckets => {
  const buckets: Buckets = {}
  for (const [time, list] of Map.groupBy(readings, ({ ms }) => Math.floor(ms / bucketMs))) {
    const sorted = list.toSorted(byTime)
    const values = list.map(({ value }) => value)
    buckets[time] = {
      count: list.length,
      min: Math.min(...values),
      max: Math.max(...values),
      sum: values.reduce((sum, value) => sum + value, 0),
      first: sorted[0]?.value ?? 0,
      last: sorted.at(-1)?.value ?? 0,
    }
  }
  return buckets
}

/** What the file of a model says, without the numbers of its kegs, which depend on the order in which they were met. */
export const everythingOf = (database: Database): Readonly<Record<string, unknown>> => {
  const cellars = database.query<{ number: number; name: string }, []>('SELECT number, name FROM cellars').all()
  return Object.fromEntries(
    cellars.map(({ number: cellar, name }) => {
      const found = answerOf(findKegs(database, { cellar: name, words: [], page: 1, perPage: 100_000 }))
      const kegs = found.kegs.map(({ rack, keg, latest, values, acceptedMs, pauseMs }) => [
        `${rack} / ${keg}`,
        {
          latest: [latest.keyId, latest.revision, latest.position, latest.recordedAt, latest.value, latest.timestamp],
          values,
          accepted: acceptedMs,
          pause: pauseMs,
          minutes: storedBuckets(database, 'minutes', { cellar, rack, keg }),
          hours: storedBuckets(database, 'hours', { cellar, rack, keg }),
        },
      ])
      const recent = recentReadings(database, name).map(({ position }) => position)
      return [name, { kegs: Object.fromEntries(kegs), recent }]
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
    const [, count = 0, min = 0, max = 0, sum = 0, first = 0, , last = 0] = reader.numbers
    buckets[time] = { count, min, max, sum, first, last }
  }
  return buckets
}

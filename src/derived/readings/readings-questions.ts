/** Each yields every few ms, because all questions take turns on one thread. The database can be read-only. */
import type { Database } from 'bun:sqlite'
import { dayMs, hourMs, minuteMs } from '../../domain/calendar.ts'
import { hasWords } from '../../domain/search/keg-words.ts'
import { orderKey } from '../../domain/search/order-key.ts'
import { readingsStream } from '../../domain/stream-names.ts'
import { CellReader, cellOf } from './cells.ts'
import { valuesOf } from './keg-numbers.ts'
import { bucketCount, bucketFirst, bucketLast, bucketMax, bucketMin, bucketSum } from './levels.ts'
import { timestampOf } from './stored-kegs.ts'

/** A question gives way after this number of rows or look-ups: about 1 ms. */
const readingsAskedPerStep = 500

export type ShownKeg = {
  readonly rack: string
  readonly keg: string
  readonly latest: LatestReading
  /** Oldest first, at most `pointsPerKegMax`. */
  readonly values: readonly number[]
  readonly acceptedMs: number
  /** `null`: fewer than two requests are known. */
  readonly pauseMs: number | null
}

export type LatestReading = {
  readonly stream: string
  readonly keyId: string
  readonly revision: number
  readonly position: number
  readonly recordedAt: number
  readonly value: number
  /** As the device sent it. */
  readonly timestamp: string
}

export type KegsWanted = {
  readonly cellar: string
  /** In lower case. Each must occur in the rack's or in the keg's name. */
  readonly words: readonly string[]
  /** From 1. A page after the last one gives the last one. */
  readonly page: number
  readonly perPage: number
}

export type FoundKegs = {
  readonly kegs: readonly ShownKeg[]
  readonly page: number
  readonly pages: number
  readonly found: number
  readonly all: number
}

/** Sorted by rack, then by keg. */
export function* findKegs(
  database: Database,
  { cellar: name, words, page, perPage }: KegsWanted,
): Generator<void, FoundKegs> {
  const cellar = cellarNamed(database, name)
  if (cellar === null) return { kegs: [], page: 1, pages: 1, found: 0, all: 0 }
  // SQLite knows lower case only of ASCII.
  const isWanted = (keg: KegName): boolean => hasWords(keg, words)
  const matches = words.length === 0 ? null : yield* kegsThat(database, cellar.number, isWanted)
  const found = matches?.length ?? cellar.kegs
  const pages = Math.max(1, Math.ceil(found / perPage))
  const shownPage = Math.min(page, pages)
  const from = (shownPage - 1) * perPage
  const named = matches?.slice(from, from + perPage) ?? namesFrom(database, cellar.number, { from, perPage })
  return { kegs: shownKegs(database, cellar.number, named), page: shownPage, pages, found, all: cellar.kegs }
}

type StoredCellar = { readonly number: number; readonly kegs: number }

const cellarNamed = (database: Database, name: string): StoredCellar | null =>
  database.query<StoredCellar, [string]>('SELECT number, kegs FROM cellars WHERE name = ?').get(name)

type NumberedName = KegName & { readonly number: number }

type OrderedName = NumberedName & { readonly rack_order: string; readonly keg_order: string }

const namesFrom = (
  database: Database,
  cellar: number,
  { from, perPage }: { readonly from: number; readonly perPage: number },
): readonly NumberedName[] =>
  database
    .query<NumberedName, [number, number, number]>(
      'SELECT number, rack, keg FROM kegs WHERE cellar = ? ORDER BY rack_order, keg_order LIMIT ? OFFSET ?',
    )
    .all(cellar, perPage, from)

function* kegsThat(
  database: Database,
  cellar: number,
  isWanted: (keg: NumberedName) => boolean,
): Generator<void, readonly NumberedName[]> {
  const query = database.query<OrderedName, [number, string, string]>(
    `SELECT number, rack, keg, rack_order, keg_order FROM kegs WHERE cellar = ? AND (rack_order, keg_order) > (?, ?)
      ORDER BY rack_order, keg_order LIMIT ${readingsAskedPerStep}`,
  )
  const wanted: NumberedName[] = []
  // No name is empty, so no order key is.
  let last: Pick<OrderedName, 'rack_order' | 'keg_order'> | undefined = { rack_order: '', keg_order: '' }
  while (last !== undefined) {
    const kegs: readonly OrderedName[] = query.all(cellar, last.rack_order, last.keg_order)
    for (const keg of kegs) if (isWanted(keg)) wanted.push(keg)
    last = kegs.at(-1)
    yield
  }
  return wanted
}

export type RacksWanted = { readonly pattern: RegExp; readonly limit: number }

export type FoundRack = { readonly cellar: string; readonly rack: string }

/** The first that match, in the order of cellars and names. */
export function* racksLike(database: Database, { pattern, limit }: RacksWanted): Generator<void, readonly FoundRack[]> {
  const next = database.query<NextRack, [number, string]>(
    `SELECT kegs.cellar AS number, rack_order, rack, name AS cellar FROM kegs CROSS JOIN cellars ON cellars.number = kegs.cellar
      WHERE (kegs.cellar, rack_order) > (?, ?) ORDER BY kegs.cellar, rack_order LIMIT 1`,
  )
  const racks: FoundRack[] = []
  let [number, order] = [0, '']
  for (let read = 1; racks.length < limit; read += 1) {
    const found = next.get(number, order)
    if (found === null) break
    const { cellar, rack } = found
    if (pattern.test(rack)) racks.push({ cellar, rack })
    ;[number, order] = [found.number, found.rack_order]
    if (read % readingsAskedPerStep === 0) yield
  }
  return racks
}

type NextRack = FoundRack & { readonly number: number; readonly rack_order: string }

type StoredKeg = {
  readonly key_id: string
  readonly revision: number
  readonly position: number
  readonly recorded_ms: number
  readonly time_ms: number
  readonly timestamp: string | null
  readonly value: number
  readonly accepted_ms: number
  readonly pause_ms: number | null
  readonly points: Uint8Array
}

const shownKegs = (database: Database, cellar: number, named: readonly NumberedName[]): readonly ShownKeg[] => {
  const query = database.query<StoredKeg, [number, number]>('SELECT * FROM latest WHERE cellar = ? AND keg = ?')
  return named.flatMap(({ number, rack, keg }) => {
    const stored = query.get(cellar, number)
    return stored === null ? [] : [shown({ rack, keg }, stored)]
  })
}

const shown = ({ rack, keg }: KegName, stored: StoredKeg): ShownKeg => ({
  rack,
  keg,
  latest: {
    stream: readingsStream(stored.key_id),
    keyId: stored.key_id,
    revision: stored.revision,
    position: stored.position,
    recordedAt: stored.recorded_ms,
    value: stored.value,
    timestamp: timestampOf(stored.time_ms, stored.timestamp),
  },
  values: valuesOf(stored.points),
  acceptedMs: stored.accepted_ms,
  pauseMs: stored.pause_ms,
})

export type KegName = { readonly rack: string; readonly keg: string }

/** `null` for an unknown keg. */
export const kegNamed = (database: Database, wanted: KegName & { readonly cellar: string }): ShownKeg | null => {
  const place = placeOf(database, wanted)
  return place === null ? null : (shownKegs(database, place.cellar, [{ ...wanted, number: place.keg }])[0] ?? null)
}

type KegPlace = { readonly cellar: number; readonly keg: number }

const placeOf = (database: Database, { cellar, rack, keg }: KegName & { readonly cellar: string }): KegPlace | null =>
  database
    .query<KegPlace, [string, string, string]>(
      `SELECT kegs.cellar, kegs.number AS keg FROM cellars JOIN kegs ON kegs.cellar = cellars.number
        WHERE cellars.name = ? AND rack_order = ? AND keg_order = ?`,
    )
    .get(cellar, orderKey(rack), orderKey(keg))

export type ReadingPlace = {
  readonly stream: string
  readonly keyId: string
  readonly revision: number
  readonly position: number
  readonly recordedAt: number
}

/** Newest first, at most `latestReadingsPerCellarMax`. */
export const recentReadings = (database: Database, cellar: string): readonly ReadingPlace[] =>
  database
    .query<{ recorded_ms: number; position: number; key_id: string; revision: number }, [string]>(
      `SELECT recorded_ms, position, key_id, revision FROM cellars JOIN recent ON recent.cellar = cellars.number
        WHERE cellars.name = ? ORDER BY recorded_ms DESC, position DESC`,
    )
    .all(cellar)
    .map(({ recorded_ms: recordedAt, position, key_id: keyId, revision }) => ({
      stream: readingsStream(keyId),
      keyId,
      revision,
      position,
      recordedAt,
    }))

export type ChartWanted = KegName & {
  readonly cellar: string
  /** Included. Rounded down to the chart's step. */
  readonly fromMs: number
  readonly toMs: number
}

export type Chart = {
  readonly stepMs: number
  /** Oldest first. Times without readings have no point. */
  readonly points: readonly ChartPoint[]
}

export type ChartPoint = {
  readonly timeMs: number
  readonly count: number
  readonly min: number
  readonly max: number
  /** `null`: the sum of the values is too large for a number. */
  readonly mean: number | null
  /** By the reading's own time. */
  readonly first: number
  readonly last: number
}

/** The step is a minute for up to a day, as long as minutes are kept. For up to 60 days it is an hour, otherwise a day. */
export function* chart(database: Database, wanted: ChartWanted): Generator<void, Chart> {
  const stepMs = stepOf(database, wanted)
  const place = placeOf(database, wanted)
  const points: ChartPoint[] = []
  if (place === null) return { stepMs, points }
  const level = stepMs === minuteMs ? 'minutes' : 'hours'
  const bucketMs = stepMs === minuteMs ? minuteMs : hourMs
  const query = database.query<{ readonly time: number; readonly buckets: Uint8Array }, [number, number, number]>(
    `SELECT time, buckets FROM ${level} WHERE cellar = ? AND time = ? AND cell = ?`,
  )
  let day: Part | null = null
  const end = Math.ceil(wanted.toMs / bucketMs)
  for (let time = Math.floor(wanted.fromMs / stepMs) * (stepMs / bucketMs); time < end; time += 1) {
    if (time % readingsAskedPerStep === 0) yield
    const row = query.get(place.cellar, time, cellOf(place.keg))
    const reader = row === null ? null : new CellReader(row.buckets)
    if (reader === null || !reader.find(place.keg)) continue
    const timeMs = Math.floor((time * bucketMs) / stepMs) * stepMs
    if (day !== null && day.timeMs !== timeMs) {
      points.push(pointOf(day))
      day = null
    }
    day = merged(day, timeMs, reader.numbers)
  }
  if (day !== null) points.push(pointOf(day))
  return { stepMs, points }
}

const minutesChartMsMax = dayMs
const hoursChartMsMax = 60 * dayMs

const stepOf = (database: Database, { fromMs, toMs }: ChartWanted): number => {
  const rangeMs = toMs - fromMs
  if (rangeMs > hoursChartMsMax) return dayMs
  if (rangeMs > minutesChartMsMax) return hourMs
  const kept = database.query<{ readonly first_minute: number | null }, []>('SELECT first_minute FROM kept').get()
  return fromMs >= (kept?.first_minute ?? 0) * minuteMs ? minuteMs : hourMs
}

type Part = Omit<ChartPoint, 'mean'> & { readonly sum: number }

const merged = (before: Part | null, timeMs: number, numbers: Float64Array): Part => {
  const [count = 0, min = 0, max = 0] = [numbers[bucketCount], numbers[bucketMin], numbers[bucketMax]]
  const [sum = 0, first = 0, last = 0] = [numbers[bucketSum], numbers[bucketFirst], numbers[bucketLast]]
  if (before === null) return { timeMs, count, min, max, sum, first, last }
  return {
    timeMs,
    count: before.count + count,
    min: Math.min(before.min, min),
    max: Math.max(before.max, max),
    sum: before.sum + sum,
    first: before.first,
    last,
  }
}

const pointOf = ({ sum, ...point }: Part): ChartPoint => ({
  ...point,
  mean: Number.isFinite(sum) ? sum / point.count : null,
})

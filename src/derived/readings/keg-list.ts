import type { Database } from 'bun:sqlite'
import { hourMs } from '../../domain/calendar.ts'
import { orderKey } from '../../domain/search/order-key.ts'
import { AskedSteps, eachBucket, hourLevel } from './bucket-rows.ts'
import { meanOf } from './keg-charts.ts'
import { cellarNamed, kegOfNumber, kegsPassedPerStep, latestOf, readingsAskedPerStep } from './keg-rows.ts'
import { bucketCount, bucketSecondCount, bucketSecondSum, bucketSum } from './levels.ts'
import type { FoundKegs, KegsWanted, ShownKeg } from './shown-kegs.ts'

const halfHoursOfDay = 48
const halfHourMs = hourMs / 2

export function* kegList(database: Database, wanted: KegsWanted): Generator<void, FoundKegs> {
  const cellar = cellarNamed(database, wanted.cellar)
  if (cellar === null) return { kegs: [], page: 1, pages: 1, found: 0, all: 0 }
  const { rack, words, perPage } = wanted
  const named = rack === undefined && words.length === 0 ? null : yield* numbersNamed(database, cellar.number, wanted)
  const found = named?.length ?? cellar.kegs
  const matches = found === cellar.kegs ? null : named
  const pages = Math.max(1, Math.ceil(found / perPage))
  const page = Math.min(wanted.page, pages)
  const numbers = yield* pageOf(database, { ...wanted, cellar: cellar.number, matches, page, found })
  const kegs = yield* shownKegs(database, { cellar: cellar.number, numbers, nowMs: wanted.nowMs })
  const all =
    rack === undefined
      ? cellar.kegs
      : words.length === 0
        ? found
        : (yield* numbersNamed(database, cellar.number, { rack, words: [] })).length
  return { kegs, page, pages, found, all }
}

/** Of the primary key, so that SQLite begins at the place. With `cellar = ?`, it would pass all kegs before it. */
type Place = readonly [cellar: number, rackOrder: string, kegOrder: string | Uint8Array]

/** In the order of blobs and texts of SQLite, it comes after all texts. */
const afterTexts = new Uint8Array(1)

/** In the order of the names. */
export function* numbersNamed(
  database: Database,
  cellar: number,
  { rack, words }: Pick<KegsWanted, 'rack' | 'words'>,
): Generator<void, readonly number[]> {
  const numbers: number[] = []
  // No name is empty, so no order key is.
  let after: Place = [cellar, rack === undefined ? '' : orderKey(rack), '']
  const last: Place = rack === undefined ? [cellar + 1, '', ''] : [cellar, orderKey(rack), afterTexts]
  const isFound = words.map((_, index) => `AND instr(searched, ?${7 + index}) > 0`).join(' ')
  const next = database.query<unknown, (number | string | Uint8Array)[]>(
    `SELECT number, 1 ${isFound} FROM kegs
      WHERE (cellar, rack_order, keg_order) > (?1, ?2, ?3) AND (cellar, rack_order, keg_order) <= (?4, ?5, ?6)
      ORDER BY cellar, rack_order, keg_order LIMIT ${kegsPassedPerStep}`,
  )
  const placeOf = database.query<unknown, [number, number]>(
    'SELECT cellar, rack_order, keg_order FROM kegs WHERE cellar = ? AND number = ?',
  )
  for (;;) {
    const passed = next.values(...after, ...last, ...words)
    for (const [number, found] of passed) if (found === 1) numbers.push(Number(number))
    const [place] = passed.length < kegsPassedPerStep ? [] : placeOf.values(cellar, Number(passed.at(-1)?.[0]))
    if (place === undefined) return numbers
    after = [Number(place[0]), String(place[1]), String(place[2])]
    yield
  }
}

type PageWanted = Pick<KegsWanted, 'sort' | 'isReversed' | 'silentFirst' | 'perPage' | 'nowMs'> & {
  readonly cellar: number
  /** `null`: all kegs of the cellar. */
  readonly matches: readonly number[] | null
  readonly page: number
  readonly found: number
}

function* pageOf(database: Database, wanted: PageWanted): Generator<void, readonly number[]> {
  const { cellar, matches, sort, isReversed, silentFirst, page, perPage } = wanted
  const from = (page - 1) * perPage
  if (sort !== 'name') return (yield* bestOf(database, wanted, from + perPage)).slice(from)
  const isNear = from < kegsPassedPerStep
  if (!silentFirst && matches === null && isNear) return numbersAt(database, cellar, { from, perPage, isReversed })
  const named = matches ?? (yield* numbersNamed(database, cellar, { words: [] }))
  const ordered = isReversed ? named.toReversed() : named
  if (!silentFirst) return ordered.slice(from, from + perPage)
  const silent = new Set(yield* silentOf(database, wanted))
  const sorted = [...ordered.filter((keg) => silent.has(keg)), ...ordered.filter((keg) => !silent.has(keg))]
  return sorted.slice(from, from + perPage)
}

type At = { readonly from: number; readonly perPage: number; readonly isReversed: boolean }

const numbersAt = (database: Database, cellar: number, { from, perPage, isReversed }: At): readonly number[] => {
  const order = isReversed ? 'rack_order DESC, keg_order DESC' : 'rack_order, keg_order'
  return database
    .query<{ readonly number: number }, [number, number, number]>(
      `SELECT number FROM kegs WHERE cellar = ? ORDER BY ${order} LIMIT ? OFFSET ?`,
    )
    .all(cellar, perPage, from)
    .map(({ number }) => number)
}

/** Sorted again after so many times the wanted number. */
const rankedTimesMax = 4

type Ranked = { readonly keg: number; readonly rank: number; readonly isSilent: 0 | 1 }

/** The first `count` kegs. Equal ones come in the order of their first readings. SQLite sorts each step, so that only those that can be among them become objects. */
function* bestOf(
  database: Database,
  { cellar, matches, sort, isReversed, silentFirst, nowMs }: PageWanted,
  count: number,
): Generator<void, readonly number[]> {
  const column = sort === 'value' ? 'value' : '-accepted_ms'
  const direction = isReversed ? 'DESC' : ''
  const sql = (kegs: string): string =>
    `SELECT keg, ${column} AS rank, ${silentFirst ? 'silent_from_ms < ?1' : '0'} AS isSilent FROM latest
      WHERE cellar = ?2 AND ${kegs} ORDER BY isSilent DESC, rank ${direction}, keg ${direction} LIMIT ?3`
  const byRank = (a: Ranked, b: Ranked): number =>
    b.isSilent - a.isSilent || (isReversed ? b.rank - a.rank || b.keg - a.keg : a.rank - b.rank || a.keg - b.keg)
  let best: Ranked[] = []
  for (const kegs of stepsOf(database, cellar, matches)) {
    const found = database
      .query<Ranked, [number, number, number, ...(number | string)[]]>(sql(kegs.where))
      .all(nowMs, cellar, count, ...kegs.parameters)
    for (const ranked of found) best.push(ranked)
    if (best.length > rankedTimesMax * count) best = best.sort(byRank).slice(0, count)
    yield
  }
  return best
    .sort(byRank)
    .slice(0, count)
    .map(({ keg }) => keg)
}

function* silentOf(database: Database, { cellar, matches, nowMs }: PageWanted): Generator<void, readonly number[]> {
  const silent: number[] = []
  for (const kegs of stepsOf(database, cellar, matches)) {
    const found = database
      .query<{ readonly keg: number }, [number, number, null, ...(number | string)[]]>(
        `SELECT keg FROM latest WHERE silent_from_ms < ?1 AND cellar = ?2 AND ${kegs.where}`,
      )
      .values(nowMs, cellar, null, ...kegs.parameters)
    for (const [keg] of found) silent.push(Number(keg))
    yield
  }
  return silent
}

type Step = { readonly where: string; readonly parameters: readonly (number | string)[] }

/** Parts of the table of the latest readings, as parameters 4 and 5 of a statement. Sorted, neighbours lie in one page of the file. */
function* stepsOf(database: Database, cellar: number, matches: readonly number[] | null): Generator<Step> {
  if (matches !== null) {
    const sorted = new Float64Array(matches).sort()
    for (let from = 0; from < sorted.length; from += kegsPassedPerStep) {
      const part = JSON.stringify([...sorted.subarray(from, from + kegsPassedPerStep)])
      yield { where: 'keg IN (SELECT value FROM json_each(?4))', parameters: [part] }
    }
    return
  }
  const end = database.query<{ readonly keg: number }, [number, number]>(
    `SELECT keg FROM latest WHERE cellar = ? AND keg > ? ORDER BY keg LIMIT 1 OFFSET ${kegsPassedPerStep - 1}`,
  )
  for (let after = -1; ; ) {
    const to = end.get(cellar, after)?.keg ?? Number.MAX_SAFE_INTEGER
    yield { where: 'keg > ?4 AND keg <= ?5', parameters: [after, to] }
    if (to === Number.MAX_SAFE_INTEGER) return
    after = to
  }
}

type Shown = { readonly cellar: number; readonly numbers: readonly number[]; readonly nowMs: number }

function* shownKegs(database: Database, { cellar, numbers, nowMs }: Shown): Generator<void, readonly ShownKeg[]> {
  const days = yield* daysOf(database, { cellar, numbers, nowMs })
  const shown: ShownKeg[] = []
  for (const [index, number] of numbers.entries()) {
    const name = kegOfNumber(database, cellar, number)
    const known = latestOf(database, cellar, number)
    if (index % readingsAskedPerStep === readingsAskedPerStep - 1) yield
    if (name === null || known === null) continue
    const { latest, acceptedMs, pauseMs, silentFromMs } = known
    const day = days.get(number) ?? []
    shown.push({ ...name, latest, acceptedMs, pauseMs, isSilent: silentFromMs < nowMs, day })
  }
  return shown
}

function* daysOf(
  database: Database,
  { cellar, numbers, nowMs }: Shown,
): Generator<void, ReadonlyMap<number, readonly (number | null)[]>> {
  const firstHalf = Math.floor(nowMs / halfHourMs) + 1 - halfHoursOfDay
  const days = new Map(numbers.map((number) => [number, new Array<number | null>(halfHoursOfDay).fill(null)]))
  const from = Math.floor(firstHalf / 2)
  const range = {
    level: hourLevel,
    cellar,
    kegs: numbers,
    from,
    to: from + halfHoursOfDay / 2 + 1,
    steps: new AskedSteps(),
  }
  yield* eachBucket(database, range, (keg, hour, bucket) => {
    const [count = 0, sum = 0] = [bucket[bucketCount], bucket[bucketSum]]
    const [secondCount = 0, secondSum = 0] = [bucket[bucketSecondCount], bucket[bucketSecondSum]]
    const day = days.get(keg) ?? []
    const at = 2 * hour - firstHalf
    if (at >= 0 && at < halfHoursOfDay) day[at] = meanOf(sum, count - secondCount)
    if (at + 1 >= 0 && at + 1 < halfHoursOfDay) day[at + 1] = meanOf(secondSum, secondCount)
  })
  return days
}

import type { Database } from 'bun:sqlite'
import { numbersNamed } from './keg-list.ts'
import { cellarNamed, kegsPassedPerStep, readingsAskedPerStep } from './keg-rows.ts'
import type { FoundRacks, RacksWanted, ShownRack } from './shown-kegs.ts'

/** Racks that one step counts. */
const racksPerStep = 100

export function* rackList(database: Database, wanted: RacksWanted): Generator<void, FoundRacks> {
  const cellar = cellarNamed(database, wanted.cellar)
  if (cellar === null) return { racks: [], page: 1, pages: 1, found: 0 }
  const names = yield* racksNamed(database, cellar.number, wanted.words)
  const pages = Math.max(1, Math.ceil(names.length / wanted.perPage))
  const page = Math.min(wanted.page, pages)
  const from = (page - 1) * wanted.perPage
  const racks = yield* racksOf(database, wanted, names.slice(from, from + wanted.perPage))
  return { racks, page, pages, found: names.length }
}

export function* racksOf(
  database: Database,
  wanted: Pick<RacksWanted, 'cellar' | 'words' | 'nowMs'>,
  names: readonly string[],
): Generator<void, readonly ShownRack[]> {
  const cellar = cellarNamed(database, wanted.cellar)
  const racks: ShownRack[] = []
  if (cellar === null) return racks
  for (const rack of names) {
    const kegs = yield* numbersNamed(database, cellar.number, { rack, words: wanted.words })
    racks.push(yield* shownRack(database, { cellar: cellar.number, rack, kegs, nowMs: wanted.nowMs }))
  }
  return racks
}

type NamedRack = { readonly rack: string; readonly rack_order: string }

function* racksNamed(database: Database, cellar: number, words: readonly string[]): Generator<void, readonly string[]> {
  const wanted = words.map((_, index) => `AND instr(searched, ?${3 + index}) > 0`).join(' ')
  const query = database.query<NamedRack, [number, string, ...string[]]>(
    `SELECT rack, rack_order FROM kegs WHERE cellar = ?1 AND rack_order > ?2 ${wanted}
      GROUP BY rack_order ORDER BY rack_order LIMIT ${racksPerStep}`,
  )
  const names: string[] = []
  for (let after = ''; ; ) {
    const racks = query.all(cellar, after, ...words)
    for (const { rack } of racks) names.push(rack)
    const last = racks.at(-1)
    if (last === undefined || racks.length < racksPerStep) return names
    after = last.rack_order
    yield
  }
}

type OfRack = {
  readonly cellar: number
  readonly rack: string
  readonly kegs: readonly number[]
  readonly nowMs: number
}

type Counted = { readonly accepted: number | null; readonly silent: number | null }

function* shownRack(database: Database, { cellar, rack, kegs, nowMs }: OfRack): Generator<void, ShownRack> {
  const query = database.query<Counted, [number, number, string]>(
    `SELECT max(accepted_ms) AS accepted, sum(silent_from_ms < ?1) AS silent FROM latest
      WHERE cellar = ?2 AND keg IN (SELECT value FROM json_each(?3))`,
  )
  let [acceptedMs, silent] = [0, 0]
  for (let from = 0; from < kegs.length; from += kegsPassedPerStep) {
    const part = query.get(nowMs, cellar, JSON.stringify(kegs.slice(from, from + kegsPassedPerStep)))
    acceptedMs = Math.max(acceptedMs, part?.accepted ?? 0)
    silent += part?.silent ?? 0
    yield
  }
  return { rack, kegs: kegs.length, silent, acceptedMs }
}

export type RacksLikeWanted = { readonly pattern: RegExp; readonly limit: number }

export type FoundRack = { readonly cellar: string; readonly rack: string }

/** The first that match, in the order of cellars and names. */
export function* racksLike(
  database: Database,
  { pattern, limit }: RacksLikeWanted,
): Generator<void, readonly FoundRack[]> {
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

import type { Database } from 'bun:sqlite'
import { orderKey } from '../../domain/search/order-key.ts'
import { numbersNamed } from './keg-list.ts'
import { cellarNamed, kegsPassedPerStep, readingsAskedPerStep } from './keg-rows.ts'
import type { KegsWanted, ShownRack } from './shown-kegs.ts'

/** Kegs that are counted for the racks of a page of kegs. Live pages ask for them again and again. */
export const kegsCountedMax = kegsPassedPerStep

/** Without those that have too many kegs. */
export function* racksOf(
  database: Database,
  wanted: Pick<KegsWanted, 'cellar' | 'words' | 'nowMs'>,
  names: readonly string[],
): Generator<void, readonly ShownRack[]> {
  const cellar = cellarNamed(database, wanted.cellar)
  const racks: ShownRack[] = []
  if (cellar === null) return racks
  const size = database.query<{ readonly kegs: number }, [number, string, number]>(
    'SELECT count(*) AS kegs FROM (SELECT 1 FROM kegs WHERE cellar = ? AND rack_order = ? LIMIT ?)',
  )
  const count = database.query<Omit<ShownRack, 'rack'>, [number, number, string]>(
    `SELECT count(*) AS kegs, sum(silent_from_ms < ?1) AS silent, max(accepted_ms) AS acceptedMs FROM latest
      WHERE cellar = ?2 AND keg IN (SELECT value FROM json_each(?3))`,
  )
  let left = kegsCountedMax
  for (const rack of names) {
    const kegs = size.get(cellar.number, orderKey(rack), left + 1)?.kegs ?? 0
    yield
    if (kegs > left) continue
    left -= kegs
    const numbers = JSON.stringify(yield* numbersNamed(database, cellar.number, { rack, words: wanted.words }))
    const counted = count.get(wanted.nowMs, cellar.number, numbers)
    if (counted !== null) racks.push({ rack, ...counted })
  }
  return racks
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

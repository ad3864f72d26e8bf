import { askRowsAtOnceMax } from '../../../limits.ts'
import type { RefusalSum } from '../../ask-index.ts'
import { type HourCountRow, hourCountChecksum } from '../ask-rows.ts'
import { AskNames } from './ask-names.ts'
import type { AskStatements } from './ask-statements.ts'
import { undamaged } from './undamaged-rows.ts'

type Wanted = { readonly cellar: string; readonly fromHour: number; readonly limit: number }

/** Counts by the number of the code. */
type OfKey = Map<number, number>
type Last = Pick<HourCountRow, 'hour' | 'key' | 'code'>

/**
 * Sums the refusals of a cellar by key and code. Reads a few rows in each step, because a cellar can have thousands of keys.
 * @throws AskUnusable
 */
export function* refusalsOfCellar(
  statements: AskStatements,
  { cellar, fromHour, limit }: Wanted,
): Generator<void, readonly RefusalSum[]> {
  const names = new AskNames(statements)
  const number = names.numberOf(cellar)
  if (number === null) return []
  const keys = new Map<number, OfKey>()
  let last: Last | undefined = { hour: fromHour, key: 0, code: 0 }
  while (last !== undefined) {
    const read = statements.refusalsAfter.all(number, last.hour, last.key, last.code, askRowsAtOnceMax)
    const rows: readonly HourCountRow[] = undamaged(read, hourCountChecksum)
    for (const row of rows) addTo(keys, row)
    last = rows.at(-1)
    yield
  }
  const sums: RefusalSum[] = []
  for (const [key, codes] of mostRefused(keys)) {
    for (const [code, count] of codes) sums.push({ cellar, key: names.textOf(key), code: names.textOf(code), count })
    if (sums.length >= limit) break
  }
  return sums.slice(0, limit)
}

const addTo = (keys: Map<number, OfKey>, { key, code, count }: HourCountRow): void => {
  const codes = keys.get(key) ?? new Map<number, number>()
  codes.set(code, (codes.get(code) ?? 0) + count)
  keys.set(key, codes)
}

const mostRefused = (keys: ReadonlyMap<number, OfKey>): readonly (readonly [key: number, codes: OfKey])[] =>
  [...keys].sort(([, one], [, two]) => sumOf(two) - sumOf(one))

const sumOf = (codes: OfKey): number => codes.values().reduce((sum, count) => sum + count, 0)

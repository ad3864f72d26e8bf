import { askRowsAtOnceMax } from '../../../limits.ts'
import type { RefusalSum } from '../../ask-index.ts'
import { AskNames } from './ask-names.ts'
import type { AskStatements, RefusalRow } from './ask-statements.ts'

type Wanted = { readonly cellar: string; readonly fromHour: number; readonly limit: number }

/** `codes` is by the number of the code. */
type OfKey = { sum: number; readonly codes: Map<number, number> }
type Last = Omit<RefusalRow, 'count'>

/** In steps, because a cellar can have thousands of keys. @throws AskUnusable */
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
    const rows: readonly RefusalRow[] = statements.refusalsAfter.all(
      number,
      last.hour,
      last.key,
      last.code,
      askRowsAtOnceMax,
    )
    for (const row of rows) addTo(keys, row)
    last = rows.at(-1)
    yield
  }
  const sums: RefusalSum[] = []
  const most = mostRefused(keys, limit)
  yield
  for (const [key, { codes }] of most) {
    for (const [code, count] of codes) sums.push({ cellar, key: names.textOf(key), code: names.textOf(code), count })
    if (sums.length >= limit) break
  }
  return sums.slice(0, limit)
}

const addTo = (keys: Map<number, OfKey>, { key, code, count }: RefusalRow): void => {
  const of = keys.get(key) ?? { sum: 0, codes: new Map<number, number>() }
  of.sum += count
  of.codes.set(code, (of.codes.get(code) ?? 0) + count)
  keys.set(key, of)
}

/** Sorting 10,000 keys would hold up other work. */
const mostRefused = (keys: ReadonlyMap<number, OfKey>, limit: number) => {
  const most: (readonly [key: number, of: OfKey])[] = []
  for (const entry of keys) {
    const { sum } = entry[1]
    const place = most.findLastIndex(([, of]) => of.sum >= sum) + 1
    if (place < limit) most.splice(place, 0, entry)
    if (most.length > limit) most.pop()
  }
  return most
}

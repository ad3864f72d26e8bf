import { askKeysAtOnceMax } from '../../../limits.ts'
import { AskUnusable, type KeyLoads, type KeyLoadsWanted } from '../../ask-index.ts'
import { AskNames } from './ask-names.ts'
import type { AskStatements, PeakRow, RefusalRow } from './ask-statements.ts'

type Load = { busiest: number; refusedToday: number }

/** Numbers of `names`. */
type Cellars = { readonly first: number; readonly last: number }

/** @throws AskUnusable */
export function* keyLoadsOf(
  statements: AskStatements,
  { fromHour, todayHour, cellar }: KeyLoadsWanted,
): Generator<void, KeyLoads> {
  const number = cellar === null ? null : (new AskNames(statements).numberOf(cellar) ?? 0)
  const cellars = number === null ? { first: 1, last: Number.MAX_SAFE_INTEGER } : { first: number, last: number }
  const loads = new Map<number, Load>()
  for (const rows of fromHour === null ? [] : peaksIn(statements, cellars, fromHour)) {
    for (const { key, busiest } of rows) loads.set(key, { busiest, refusedToday: 0 })
    yield
  }
  for (const rows of todayHour === null ? [] : refusalsIn(statements, cellars, todayHour)) {
    for (const { key, count } of rows) {
      const load = loads.get(key) ?? { busiest: 0, refusedToday: 0 }
      load.refusedToday += count
      loads.set(key, load)
    }
    yield
  }
  const names: string[] = []
  for (const some of namesOf(statements, [...loads.keys()])) {
    names.push(...some)
    yield
  }
  return {
    keyIds: names.join('\n'),
    busiest: Uint32Array.from(loads.values(), ({ busiest }) => busiest),
    refusedToday: Uint32Array.from(loads.values(), ({ refusedToday }) => refusedToday),
  }
}

function* peaksIn(statements: AskStatements, { first, last }: Cellars, hour: number): Generator<readonly PeakRow[]> {
  for (let before: Pick<PeakRow, 'cellar' | 'key'> | undefined = { cellar: first, key: 0 }; before !== undefined; ) {
    const rows: readonly PeakRow[] = statements.peaksAfter.all(before.cellar, before.key, last, hour, askKeysAtOnceMax)
    yield rows
    before = rows.at(-1)
  }
}

function* refusalsIn(statements: AskStatements, cellars: Cellars, hour: number): Generator<readonly RefusalRow[]> {
  for (let before = cellars.first - 1; ; ) {
    const cellar = statements.refusedCellarAfter.get(before, cellars.last)?.cellar
    if (cellar === undefined) return
    for (let last: Omit<RefusalRow, 'count'> | undefined = { hour, key: 0, code: 0 }; last !== undefined; ) {
      const { hour, key, code }: Omit<RefusalRow, 'count'> = last
      const rows: readonly RefusalRow[] = statements.refusalsAfter.all(cellar, hour, key, code, askKeysAtOnceMax)
      yield rows
      last = rows.at(-1)
    }
    before = cellar
  }
}

function* namesOf(statements: AskStatements, numbers: readonly number[]): Generator<readonly string[]> {
  for (let at = 0; at < numbers.length; at += askKeysAtOnceMax) {
    const wanted = numbers.slice(at, at + askKeysAtOnceMax)
    const rows = statements.namesOfNumbers.all(JSON.stringify(wanted))
    if (rows.length < wanted.length) throw new AskUnusable('Cannot use ask.db: "names" lacks the name of a key')
    yield rows.map(({ name }) => name)
  }
}

import { askRowsAtOnceMax } from '../../../limits.ts'
import type { SeenRack } from '../../ask-index.ts'
import type { SeenRow } from '../ask-rows.ts'
import { AskNames } from './ask-names.ts'
import type { AskStatements } from './ask-statements.ts'

type Wanted = { readonly key: string; readonly limit: number }

/**
 * Finds the racks that were seen last. Reads a few rows in each step, because one key can have all `askSeenRacksMax` racks.
 * @throws AskUnusable
 */
export function* seenRacks(statements: AskStatements, { key, limit }: Wanted): Generator<void, readonly SeenRack[]> {
  const number = new AskNames(statements).numberOf(key)
  if (number === null) return []
  let newest: readonly SeenRow[] = []
  for (let after = ''; ; ) {
    const rows = statements.seenAfter.all(number, after, askRowsAtOnceMax)
    // Equal minutes stay in the order of the racks.
    newest = [...newest, ...rows].sort((a, b) => b.minute - a.minute).slice(0, limit)
    const last = rows.at(-1)
    if (last === undefined || rows.length < askRowsAtOnceMax) break
    after = last.rack
    yield
  }
  return newest.map(({ rack, minute }) => ({ key, rack, minute }))
}

/** Reads the whole table, a few rows in each step. It has at most `askSeenRacksMax` rows. @throws AskUnusable */
export function* racksLike(
  statements: AskStatements,
  { pattern, limit }: { readonly pattern: RegExp; readonly limit: number },
): Generator<void, readonly SeenRack[]> {
  const names = new AskNames(statements)
  let newest: readonly SeenRow[] = []
  for (let last: Pick<SeenRow, 'key' | 'rack'> | undefined = { key: 0, rack: '' }; last !== undefined; ) {
    const rows: readonly SeenRow[] = statements.allSeenAfter.all(last.key, last.rack, askRowsAtOnceMax)
    const found = rows.filter(({ rack }) => pattern.test(rack))
    if (found.length > 0) newest = [...newest, ...found].sort((a, b) => b.minute - a.minute).slice(0, limit)
    last = rows.at(-1)
    yield
  }
  return newest.map(({ key, rack, minute }) => ({ key: names.textOf(key), rack, minute }))
}

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

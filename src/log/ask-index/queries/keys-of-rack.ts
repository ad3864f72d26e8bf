import { askRowsAtOnceMax } from '../../../limits.ts'
import type { SeenRack } from '../../ask-index.ts'
import type { SeenRow } from '../ask-rows.ts'
import { AskNames } from './ask-names.ts'
import type { AskStatements } from './ask-statements.ts'

/**
 * The keys that sent readings of a rack with this name, in any cellar, the latest first. Reads the whole table, of at most
 * `askSeenRacksMax` rows, in steps. @throws AskUnusable
 */
export function* keysOfRack(statements: AskStatements, wanted: string): Generator<void, readonly SeenRack[]> {
  const names = new AskNames(statements)
  const found: SeenRow[] = []
  for (let last: Pick<SeenRow, 'key' | 'rack'> | undefined = { key: 0, rack: '' }; last !== undefined; ) {
    const rows: readonly SeenRow[] = statements.allSeenAfter.all(last.key, last.rack, askRowsAtOnceMax)
    found.push(...rows.filter(({ rack }) => rack === wanted))
    last = rows.at(-1)
    yield
  }
  found.sort((a, b) => b.minute - a.minute)
  return found.map(({ key, rack, minute }) => ({ key: names.textOf(key), rack, minute }))
}

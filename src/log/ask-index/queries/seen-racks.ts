import { askRowsAtOnceMax } from '../../../limits.ts'
import type { SeenRack } from '../../ask-index.ts'
import type { SeenRow } from '../ask-rows.ts'
import { AskNames } from './ask-names.ts'
import type { AskStatements } from './ask-statements.ts'

/** Reads the whole table, of at most `askSeenRacksMax` rows, in steps. @throws AskUnusable */
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

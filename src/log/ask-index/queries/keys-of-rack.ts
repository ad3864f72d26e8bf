import { askRowsAtOnceMax } from '../../../limits.ts'
import type { SeenRack } from '../../ask-index.ts'
import type { AskStatements } from './ask-statements.ts'

type RackWanted = { readonly rack: string; readonly keys: readonly string[] }

/** Those of `keys` that sent readings of the rack, the latest first. @throws AskUnusable */
export function* keysOfRack(
  statements: AskStatements,
  { rack, keys }: RackWanted,
): Generator<void, readonly SeenRack[]> {
  const found: SeenRack[] = []
  for (const [number, key] of keys.entries()) {
    const [row] = statements.seenOfKey.all(key, rack)
    if (row !== undefined) found.push({ key, rack, minute: row.minute })
    if (number % askRowsAtOnceMax === askRowsAtOnceMax - 1) yield
  }
  return found.sort((a, b) => b.minute - a.minute)
}

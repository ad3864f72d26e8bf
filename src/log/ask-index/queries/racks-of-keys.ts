import { askRackKeysMax, askRacksOfKeysMax } from '../../../limits.ts'
import type { RacksOfKeys, SeenRack } from '../../ask-index.ts'
import { AskNames } from './ask-names.ts'
import type { AskStatements } from './ask-statements.ts'

/**
 * Each key may have the same number of racks, the first ones by name. So the racks of two keys can be compared also if a key
 * has more. @throws AskUnusable
 */
export function* racksOfKeys(statements: AskStatements, keyIds: readonly string[]): Generator<void, RacksOfKeys> {
  const names = new AskNames(statements)
  const wanted = keyIds.slice(0, askRackKeysMax)
  const ofEach = Math.floor(askRacksOfKeysMax / Math.max(1, wanted.length))
  const racks: SeenRack[] = []
  let isCut = false
  for (const key of wanted) {
    const number = names.numberOf(key)
    const rows = number === null ? [] : statements.racksOfKey.all(number, '', ofEach + 1)
    for (const row of rows.slice(0, ofEach)) racks.push({ key, ...row })
    isCut ||= rows.length > ofEach
    yield
  }
  return { racks, isCut, seenFromMinute: statements.seenFrom.all()[0]?.minute ?? null }
}

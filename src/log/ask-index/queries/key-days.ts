import { askKeyDaysMax, askLatestRacksMax } from '../../../limits.ts'
import type { KeyDay, KeyDaysWanted } from '../../ask-index.ts'
import { acceptedCode } from '../ask-schema.ts'
import { AskNames } from './ask-names.ts'
import type { AskStatements } from './ask-statements.ts'

/** In the order of the wanted keys, also of those that have no counts. @throws AskUnusable */
export function* keyDaysOf(
  statements: AskStatements,
  { keyIds, fromHour, toHour }: KeyDaysWanted,
): Generator<void, readonly KeyDay[]> {
  const names = new AskNames(statements)
  const zeros = Array.from({ length: toHour - fromHour }, () => 0)
  const days = keyIds.slice(0, askKeyDaysMax).map((keyId) => {
    const number = names.numberOf(keyId)
    return { keyId, number, accepted: [...zeros], refused: [...zeros], busiest: 0 }
  })
  const numbers = JSON.stringify(days.map(({ number }) => number))
  for (let hour = fromHour; hour < toHour; hour += 1) {
    for (const { wanted, code, count, busiest } of statements.hourOfKeys.all(numbers, hour)) {
      const day = days[wanted]
      if (day === undefined) continue
      const counts = code === acceptedCode ? day.accepted : day.refused
      counts[hour - fromHour] = (counts[hour - fromHour] ?? 0) + count
      day.busiest = Math.max(day.busiest, busiest)
    }
    yield
  }
  const found: KeyDay[] = []
  for (const { number, ...day } of days) {
    const rows = number === null ? [] : statements.latestRacksOfKey.all(number, askLatestRacksMax)
    const racks = rows.map(({ rack, minute }) => ({ key: day.keyId, rack, minute }))
    found.push({ ...day, racks, racksTotal: rows[0]?.total ?? 0 })
    yield
  }
  return found
}

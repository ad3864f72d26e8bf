import { askKeyDaysMax, askLatestRacksMax, askRacksAtOnceMax } from '../../../limits.ts'
import type { KeyDay, KeyDaysWanted, SeenRack } from '../../ask-index.ts'
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
  for (const { number, ...day } of days)
    found.push({ ...day, ...(yield* latestRacksOf(statements, day.keyId, number)) })
  return found
}

/** No index is in the order of minutes: it would change with each minute of each rack. */
function* latestRacksOf(
  statements: AskStatements,
  key: string,
  number: number | null,
): Generator<void, Pick<KeyDay, 'racks' | 'racksTotal'>> {
  let racks: readonly SeenRack[] = []
  let racksTotal = 0
  for (let last: string | undefined = ''; number !== null && last !== undefined; ) {
    const rows: readonly Omit<SeenRack, 'key'>[] = statements.racksOfKey.all(number, last, askRacksAtOnceMax)
    const latest = [...racks, ...rows.map((row) => ({ key, ...row }))].sort((a, b) => b.minute - a.minute)
    racks = latest.slice(0, askLatestRacksMax)
    racksTotal += rows.length
    last = rows.length < askRacksAtOnceMax ? undefined : rows.at(-1)?.rack
    yield
  }
  return { racks, racksTotal }
}

/** Two days have 2,880 minutes, each with a row for each code, so each step reads a few rows. */
import { askRowsAtOnceMax } from '../../../limits.ts'
import type { HourCount, MinuteCount } from '../../ask-index.ts'
import type { MinuteCountRow } from '../ask-rows.ts'
import { allCellars } from '../ask-schema.ts'
import { AskNames } from './ask-names.ts'
import type { AskStatements } from './ask-statements.ts'

/** Minutes or hours since 1970. `to` is not included. */
type Span = { readonly from: number; readonly to: number }

/** @throws AskUnusable */
export function* minuteCountsOf(
  statements: AskStatements,
  cellar: string | null,
  { from, to }: Span,
): Generator<void, readonly MinuteCount[]> {
  const names = new AskNames(statements)
  const number = cellar === null ? allCellars : names.numberOf(cellar)
  if (number === null) return []
  const counts: MinuteCount[] = []
  for (let last: Pick<MinuteCountRow, 'minute' | 'code'> = { minute: from, code: 0 }; ; ) {
    const rows = statements.minuteCounts.all(number, last.minute, last.code, to, askRowsAtOnceMax)
    for (const { minute, code, count } of rows) counts.push({ cellar, minute, code: names.textOf(code), count })
    last = rows.at(-1) ?? last
    if (rows.length < askRowsAtOnceMax) return counts
    yield
  }
}

/** @throws AskUnusable */
export function* hourCountsOf(
  statements: AskStatements,
  key: string,
  { from, to }: Span,
): Generator<void, readonly HourCount[]> {
  const names = new AskNames(statements)
  const number = names.numberOf(key)
  if (number === null) return []
  const counts: HourCount[] = []
  for (let hour = from; hour < to; hour += 1) {
    for (const { cellar, code, count, busiest } of statements.hourOfKey.all(hour, number))
      counts.push({ cellar: names.textOf(cellar), key, hour, code: names.textOf(code), count, busiest })
    if ((hour - from) % askRowsAtOnceMax === askRowsAtOnceMax - 1) yield
  }
  return counts
}

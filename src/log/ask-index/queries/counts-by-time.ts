/** Two days have 2,880 minutes, each with a row for each code, so each step reads a few rows. */
import { askRowsAtOnceMax } from '../../../limits.ts'
import type { HourCount, MinuteCount } from '../../ask-index.ts'
import type { HourCountRow, MinuteCountRow } from '../ask-rows.ts'
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
  const read = (last?: MinuteCountRow): readonly MinuteCountRow[] =>
    statements.minuteCounts.all(number, last?.minute ?? from, last?.code ?? 0, to, askRowsAtOnceMax)
  const rows = yield* inSteps(read)
  return rows.map(({ minute, code, count }) => ({ cellar, minute, code: names.textOf(code), count }))
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
  const read = (last?: HourCountRow): readonly HourCountRow[] =>
    statements.hourCounts.all(number, last?.hour ?? from, last?.code ?? 0, to, askRowsAtOnceMax)
  const rows = yield* inSteps(read)
  return rows.map(({ cellar, hour, code, count }) => ({
    cellar: names.textOf(cellar),
    key,
    hour,
    code: names.textOf(code),
    count,
  }))
}

function* inSteps<Row>(read: (last?: Row) => readonly Row[]): Generator<void, readonly Row[]> {
  const all: Row[] = []
  for (;;) {
    const rows = read(all.at(-1))
    all.push(...rows)
    if (rows.length < askRowsAtOnceMax) return all
    yield
  }
}

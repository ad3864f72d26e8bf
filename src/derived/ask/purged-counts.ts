import type { Database, Statement } from 'bun:sqlite'
import { hourOf, minuteOf } from '../../domain/calendar.ts'
import type { MinuteCountRow } from '../../log/ask-index/ask-rows.ts'
import { acceptedCode } from '../../log/ask-index/ask-schema.ts'
import type { CountRows } from './count-rows.ts'
import type { NameNumbers } from './name-numbers.ts'
import type { SeenRows } from './seen-rows.ts'

/**
 * With `counts`, what was counted of the key (and of its cellar) before the midnight `beforeMs` is deleted too: accepted
 * readings, or refusals.
 */
export type Forgotten = {
  readonly stream: string
  readonly keptFrom: number
  readonly counts: {
    readonly what: 'accepted' | 'refused'
    readonly key: string
    readonly cellar: string
    readonly beforeMs: number
  } | null
}

type Parts = { readonly names: NameNumbers; readonly counts: CountRows; readonly seen: SeenRows }

export class PurgedCounts {
  readonly #parts: Parts
  readonly #forgetHours: Readonly<Record<'accepted' | 'refused', Statement<unknown, [number, number]>>>
  readonly #forgetMinutes: Readonly<Record<'accepted' | 'refused', Statement<MinuteCountRow, [number, number]>>>

  constructor(database: Database, parts: Parts) {
    this.#parts = parts
    // Each hour has its own place in the table, so that place is looked up for each hour.
    const hours = (isCode: string): string => `
      WITH RECURSIVE hours (hour) AS
        (SELECT min(hour) FROM hour_counts UNION ALL SELECT hour + 1 FROM hours WHERE hour < ?2)
      DELETE FROM hour_counts WHERE (hour, key, code) IN
        (SELECT counts.hour, counts.key, counts.code FROM hours CROSS JOIN hour_counts AS counts
          ON counts.hour = hours.hour AND counts.key = ?1 AND counts.hour < ?2 AND counts.code ${isCode} ${acceptedCode})`
    const minutes = (isCode: string): string =>
      `DELETE FROM minute_counts WHERE cellar = ? AND minute < ? AND code ${isCode} ${acceptedCode} RETURNING *`
    this.#forgetHours = { accepted: database.prepare(hours('=')), refused: database.prepare(hours('<>')) }
    this.#forgetMinutes = { accepted: database.prepare(minutes('=')), refused: database.prepare(minutes('<>')) }
  }

  forget({ what, key, cellar, beforeMs }: NonNullable<Forgotten['counts']>): void {
    const { names, counts, seen } = this.#parts
    const keyNumber = names.find(key)
    if (keyNumber !== null) {
      this.#forgetHours[what].run(keyNumber, hourOf(beforeMs))
      if (what === 'accepted') seen.forgetBefore(keyNumber, minuteOf(beforeMs))
    }
    const cellarNumber = names.find(cellar)
    if (cellarNumber === null) return
    for (const row of this.#forgetMinutes[what].all(cellarNumber, minuteOf(beforeMs))) counts.takeFromAll(row)
  }
}

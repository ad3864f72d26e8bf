import { Database } from 'bun:sqlite'
import { CountRows } from '../../../src/derived/ask/count-rows.ts'
import { NameNumbers } from '../../../src/derived/ask/name-numbers.ts'
import { PlaceRows } from '../../../src/derived/ask/place-rows.ts'
import { SeenRows } from '../../../src/derived/ask/seen-rows.ts'
import { tables } from '../../../src/log/ask-index/ask-schema.ts'
import type { FoldedPlace, HourCount, MinuteCount, MinutePosition, SeenRack } from '../../../src/log/ask-index.ts'

/** The tables of `ask.db` in memory, for tests of queries. */
export class AskTables {
  readonly database = new Database(':memory:')
  readonly #places: PlaceRows
  readonly #counts: CountRows
  readonly #seen: SeenRows

  constructor() {
    this.database.run(tables)
    const names = new NameNumbers(this.database)
    this.#places = new PlaceRows(this.database, names)
    this.#counts = new CountRows(this.database, names)
    this.#seen = new SeenRows(this.database, names)
  }

  addPlace(place: FoldedPlace): void {
    this.#places.add(place)
  }

  addMinute(minute: MinutePosition): void {
    this.#places.addMinute(minute)
  }

  addMinuteCount(count: MinuteCount): void {
    this.#counts.addMinute(count)
  }

  /** Its readings are of one minute. */
  addHourCount(count: Omit<HourCount, 'busiest'>): void {
    const inMinute = count.code === 'accepted' ? count.count : 0
    const minutes = { first: 0, inFirst: inMinute, last: 0, inLast: inMinute, busiest: inMinute }
    this.#counts.addHour({ ...count, minutes })
  }

  addSeen(seen: SeenRack): void {
    this.#seen.add(seen)
  }
}

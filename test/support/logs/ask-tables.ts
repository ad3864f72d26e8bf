import { Database } from 'bun:sqlite'
import {
  type HourCountRow,
  hourCountChecksum,
  type MinuteCountRow,
  minuteChecksum,
  minuteCountChecksum,
  nameChecksum,
  placeChecksum,
  placeColumns,
  seenChecksum,
} from '../../../src/log/ask-index/ask-rows.ts'
import { acceptedName, allCellars, tables } from '../../../src/log/ask-index/ask-schema.ts'
import { idNumber } from '../../../src/log/ask-index/id-number.ts'
import type { FoldedPlace, HourCount, MinuteCount, MinutePosition, SeenRack } from '../../../src/log/ask-index.ts'

/** The tables of `ask.db` in memory, for tests of queries. */
export class AskTables {
  readonly database = new Database(':memory:')
  readonly #numbers = new Map<string, number>()

  constructor() {
    this.database.run(tables)
    this.#numberOf(acceptedName)
  }

  addPlace(place: FoldedPlace): void {
    const eventNumber = idNumber(place.id)
    const requestNumber = idNumber(place.requestId)
    const row = {
      position: place.position,
      recorded_at: place.recordedAt,
      kind: this.#numberOf(place.kind),
      type: this.#numberOf(place.type),
      actor: this.#numberOf(place.actor),
      key: place.key === null ? null : this.#numberOf(place.key),
      cellar: place.cellar === null ? null : this.#numberOf(place.cellar),
      stream: this.#numberOf(place.stream),
      revision: place.revision,
      event_number: eventNumber,
      request_number: requestNumber === eventNumber ? null : requestNumber,
      first_at: place.firstAt ?? null,
      last_at: place.lastAt ?? null,
    }
    this.#insert(`places (${placeColumns})`, [...Object.values(row), placeChecksum(row)])
  }

  addMinute({ minute, position }: MinutePosition): void {
    this.#insert('minutes', [minute, position, minuteChecksum({ minute, position })])
  }

  addMinuteCount({ cellar, minute, code, count }: MinuteCount): void {
    const row: Omit<MinuteCountRow, 'checksum'> = {
      cellar: cellar === null ? allCellars : this.#numberOf(cellar),
      minute,
      code: this.#numberOf(code),
      count,
    }
    this.#insert('minute_counts', [...Object.values(row), minuteCountChecksum(row)])
  }

  addHourCount({ key, hour, code, cellar, count }: HourCount): void {
    const row: Omit<HourCountRow, 'checksum'> = {
      key: this.#numberOf(key),
      hour,
      code: this.#numberOf(code),
      cellar: this.#numberOf(cellar),
      count,
    }
    this.#insert('hour_counts', [...Object.values(row), hourCountChecksum(row)])
  }

  addSeen({ key, rack, minute }: SeenRack): void {
    const row = { key: this.#numberOf(key), rack, minute }
    this.#insert('seen', [row.key, rack, minute, seenChecksum(row)])
  }

  #numberOf(name: string): number {
    const known = this.#numbers.get(name)
    if (known !== undefined) return known
    const id = this.#numbers.size + 1
    this.#numbers.set(name, id)
    this.#insert('names', [id, name, nameChecksum({ id, name })])
    return id
  }

  #insert(into: string, values: readonly (string | number | null)[]): void {
    this.database.query(`INSERT INTO ${into} VALUES (${values.map(() => '?').join(', ')})`).run(...values)
  }
}

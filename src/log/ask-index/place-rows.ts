import type { Database, Statement } from 'bun:sqlite'
import type { FoldedPlace, MinutePosition } from '../ask-index.ts'
import { minuteChecksum, type PlaceRow, placeChecksum, placeColumns } from './ask-rows.ts'
import { idNumber } from './id-number.ts'
import type { NameNumbers } from './name-numbers.ts'
import type { TableTotals } from './table-totals.ts'

/** Writes where events lie: the tables `places` and `minutes`. */
export class PlaceRows {
  readonly #names: NameNumbers
  readonly #insert: Statement
  readonly #insertMinute: Statement<unknown, [number, number, number]>
  readonly #deleteBefore: Statement<Pick<PlaceRow, 'checksum'>, [number, number]>

  constructor(database: Database, names: NameNumbers) {
    this.#names = names
    this.#insert = database.prepare(
      `INSERT INTO places (${placeColumns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    this.#insertMinute = database.prepare('INSERT INTO minutes (minute, position, checksum) VALUES (?, ?, ?)')
    this.#deleteBefore = database.prepare('DELETE FROM places WHERE stream = ? AND revision < ? RETURNING checksum')
  }

  add(place: FoldedPlace, totals: TableTotals): void {
    const number = (name: string): number => this.#names.findOrAdd(name, totals)
    const eventNumber = idNumber(place.id)
    const requestNumber = idNumber(place.requestId)
    const row = {
      position: place.position,
      recorded_at: place.recordedAt,
      kind: number(place.kind),
      type: number(place.type),
      actor: number(place.actor),
      key: place.key === null ? null : number(place.key),
      cellar: place.cellar === null ? null : number(place.cellar),
      stream: number(place.stream),
      revision: place.revision,
      event_number: eventNumber,
      request_number: requestNumber === eventNumber ? null : requestNumber,
      first_at: place.firstAt ?? null,
      last_at: place.lastAt ?? null,
    }
    const checksum = placeChecksum(row)
    // The values have the order of `placeColumns`.
    this.#insert.run(...Object.values(row), checksum)
    totals.add('places', checksum)
  }

  addMinute({ minute, position }: MinutePosition, totals: TableTotals): void {
    const checksum = minuteChecksum({ minute, position })
    this.#insertMinute.run(minute, position, checksum)
    totals.add('minutes', checksum)
  }

  forgetBefore(stream: string, revision: number, totals: TableTotals): void {
    const number = this.#names.find(stream)
    if (number === null) return
    for (const { checksum } of this.#deleteBefore.all(number, revision)) totals.remove('places', checksum)
  }

  close(): void {
    for (const statement of [this.#insert, this.#insertMinute, this.#deleteBefore]) statement.finalize()
  }
}

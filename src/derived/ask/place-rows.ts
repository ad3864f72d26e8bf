import type { Database, Statement } from 'bun:sqlite'
import { modelRowsPerStep } from '../../limits.ts'
import { placeColumns } from '../../log/ask-index/ask-rows.ts'
import { idNumber } from '../../log/ask-index/id-number.ts'
import type { FoldedPlace, MinutePosition } from '../../log/ask-index.ts'
import type { NameNumbers } from './name-numbers.ts'

export class PlaceRows {
  readonly #names: NameNumbers
  readonly #insert: Statement
  readonly #insertMinute: Statement<unknown, [number, number]>
  readonly #deleteBefore: Statement<unknown, [number, number]>
  readonly #lastMinute: Statement<{ readonly minute: number | null }, []>
  readonly #cellarOf: Statement<{ readonly name: string }, [number]>

  constructor(database: Database, names: NameNumbers) {
    this.#names = names
    this.#insert = database.prepare(
      `INSERT INTO places (${placeColumns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    this.#insertMinute = database.prepare('INSERT INTO minutes (minute, position) VALUES (?, ?)')
    this.#deleteBefore = database.prepare(`
      DELETE FROM places WHERE position IN
        (SELECT position FROM places INDEXED BY places_of_stream WHERE stream = ? AND revision < ? LIMIT ${modelRowsPerStep})
    `)
    this.#lastMinute = database.prepare('SELECT max(minute) AS minute FROM minutes')
    this.#cellarOf = database.prepare(`
      SELECT name FROM places INDEXED BY places_of_stream JOIN names ON names.id = places.cellar
        WHERE stream = ? ORDER BY revision LIMIT 1
    `)
  }

  /** -1: there is none. */
  lastMinute(): number {
    return this.#lastMinute.get()?.minute ?? -1
  }

  /** The first event of a key's or a cellar's stream names the cellar. */
  cellarOfStream(stream: string): string | null {
    const number = this.#names.find(stream)
    return number === null ? null : (this.#cellarOf.get(number)?.name ?? null)
  }

  add(place: FoldedPlace): void {
    const number = (name: string): number => this.#names.findOrAdd(name)
    const eventNumber = idNumber(place.id)
    const requestNumber = idNumber(place.requestId)
    // In the order of `placeColumns`.
    this.#insert.run(
      place.position,
      place.recordedAt,
      number(place.kind),
      number(place.type),
      number(place.actor),
      place.key === null ? null : number(place.key),
      place.cellar === null ? null : number(place.cellar),
      number(place.stream),
      place.revision,
      eventNumber,
      requestNumber === eventNumber ? null : requestNumber,
      place.firstAt ?? null,
      place.lastAt ?? null,
    )
  }

  addMinute({ minute, position }: MinutePosition): void {
    this.#insertMinute.run(minute, position)
  }

  *forgetBefore(stream: string, revision: number): Generator<void> {
    const number = this.#names.find(stream)
    if (number === null) return
    while (this.#deleteBefore.run(number, revision).changes === modelRowsPerStep) yield
  }
}

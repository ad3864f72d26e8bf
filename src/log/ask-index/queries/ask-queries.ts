import type { Database } from 'bun:sqlite'
import { askPlacesOfIdMax } from '../../../limits.ts'
import type {
  AskIndex,
  EventPlace,
  FoundPlaces,
  HourCount,
  MinuteCount,
  MinutePosition,
  PlaceFilter,
  PlacePage,
  RefusalSum,
  SeenRack,
} from '../../ask-index.ts'
import { hourCountChecksum, minuteChecksum, minuteCountChecksum, placeChecksum, seenChecksum } from '../ask-rows.ts'
import { allCellars } from '../ask-schema.ts'
import { idNumber } from '../id-number.ts'
import { AskNames } from './ask-names.ts'
import { type AskStatements, finalizeAll, prepareAskStatements } from './ask-statements.ts'
import { searchPlaces } from './place-search.ts'
import { refusalsOfCellar } from './refusals-of-cellar.ts'
import { undamaged } from './undamaged-rows.ts'

export type AskQuestions = Pick<
  AskIndex,
  | 'find'
  | 'placesOfId'
  | 'placeAt'
  | 'minuteCounts'
  | 'hourCounts'
  | 'refusalsOfCellar'
  | 'seenRacks'
  | 'positionOfMinute'
>

/**
 * The queries on the tables of `ask.db`. All rows that they read are compared with their checksums. Nothing but the statements
 * stays in memory.
 */
export class AskQueries implements AskQuestions {
  readonly #statements: AskStatements

  /** The database must stay open until `close`. */
  constructor(database: Database) {
    this.#statements = prepareAskStatements(database)
  }

  /** Then no method can be called, and no search can go on. The database stays open. */
  close(): void {
    finalizeAll(this.#statements)
  }

  find(filter: PlaceFilter, page: PlacePage): Generator<FoundPlaces, FoundPlaces> {
    return searchPlaces(this.#statements, filter, page)
  }

  placesOfId(id: string): readonly EventPlace[] {
    const names = new AskNames(this.#statements)
    const rows = this.#statements.placesOfId.all(idNumber(id.toLowerCase()), askPlacesOfIdMax)
    return undamaged(rows, placeChecksum).map((row) => names.placeOf(row))
  }

  placeAt(position: number): EventPlace | null {
    const [row] = undamaged(this.#statements.place.all(position), placeChecksum)
    return row === undefined ? null : new AskNames(this.#statements).placeOf(row)
  }

  minuteCounts(cellar: string | null, fromMinute: number, toMinute: number): readonly MinuteCount[] {
    const names = new AskNames(this.#statements)
    const number = cellar === null ? allCellars : names.numberOf(cellar)
    if (number === null) return []
    const rows = undamaged(this.#statements.minuteCounts.all(number, fromMinute, toMinute), minuteCountChecksum)
    return rows.map(({ minute, code, count }) => ({ cellar, minute, code: names.textOf(code), count }))
  }

  hourCounts(key: string, fromHour: number, toHour: number): readonly HourCount[] {
    const names = new AskNames(this.#statements)
    const number = names.numberOf(key)
    if (number === null) return []
    const rows = undamaged(this.#statements.hourCounts.all(number, fromHour, toHour), hourCountChecksum)
    return rows.map((row) => ({
      cellar: names.textOf(row.cellar),
      key,
      hour: row.hour,
      code: names.textOf(row.code),
      count: row.count,
    }))
  }

  refusalsOfCellar(cellar: string, fromHour: number, limit: number): Generator<void, readonly RefusalSum[]> {
    return refusalsOfCellar(this.#statements, { cellar, fromHour, limit })
  }

  seenRacks(key: string, limit: number): readonly SeenRack[] {
    const number = new AskNames(this.#statements).numberOf(key)
    if (number === null) return []
    const rows = undamaged(this.#statements.seen.all(number, limit), seenChecksum)
    return rows.map(({ rack, minute }) => ({ key, rack, minute }))
  }

  positionOfMinute(minute: number): MinutePosition | null {
    const [row] = undamaged(this.#statements.minuteUpTo.all(minute), minuteChecksum)
    return row === undefined ? null : { minute: row.minute, position: row.position }
  }
}

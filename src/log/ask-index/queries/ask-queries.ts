import type { Database } from 'bun:sqlite'
import type { LogFilter } from '../../../domain/search/event-filter.ts'
import type {
  AskQuestions,
  EventPlace,
  FoundPlaces,
  HourCount,
  MinuteCount,
  MinutePosition,
  PlacePage,
  RefusalSum,
  SeenRack,
} from '../../ask-index.ts'
import { AskNames } from './ask-names.ts'
import { type AskStatements, finalizeAll, prepareAskStatements } from './ask-statements.ts'
import { hourCountsOf, minuteCountsOf } from './counts-by-time.ts'
import { searchPlaces } from './place-search.ts'
import { placesOfId } from './places-of-id.ts'
import { refusalsOfCellar } from './refusals-of-cellar.ts'
import { racksLike } from './seen-racks.ts'

export class AskQueries implements AskQuestions {
  readonly #statements: AskStatements

  /** The database must stay open until `close`. */
  constructor(database: Database) {
    this.#statements = prepareAskStatements(database)
  }

  /** Then no search can go on. The database stays open. */
  close(): void {
    finalizeAll(this.#statements)
  }

  find(filter: LogFilter, page: PlacePage): Generator<void, FoundPlaces> {
    return searchPlaces(this.#statements, filter, page)
  }

  placesOfId(id: string): Generator<void, readonly EventPlace[]> {
    return placesOfId(this.#statements, id)
  }

  placeAt(position: number): EventPlace | null {
    const [row] = this.#statements.place.all(position)
    return row === undefined ? null : new AskNames(this.#statements).placeOf(row)
  }

  minuteCounts(cellar: string | null, from: number, to: number): Generator<void, readonly MinuteCount[]> {
    return minuteCountsOf(this.#statements, cellar, { from, to })
  }

  hourCounts(key: string, from: number, to: number): Generator<void, readonly HourCount[]> {
    return hourCountsOf(this.#statements, key, { from, to })
  }

  refusalsOfCellar(cellar: string, fromHour: number, limit: number): Generator<void, readonly RefusalSum[]> {
    return refusalsOfCellar(this.#statements, { cellar, fromHour, limit })
  }

  racksLike(pattern: RegExp, limit: number): Generator<void, readonly SeenRack[]> {
    return racksLike(this.#statements, { pattern, limit })
  }

  positionOfMinute(minute: number): MinutePosition | null {
    const [row] = this.#statements.minuteUpTo.all(minute)
    return row === undefined ? null : { minute: row.minute, position: row.position }
  }
}

import {
  type FilterField,
  filterFields,
  type LogFilter,
  matches,
  recordedUntil,
  typesThatCanBe,
} from '../../../domain/search/event-filter.ts'
import { askFoundAtOnceMax, askRowsAtOnceMax, readPageEventsMax } from '../../../limits.ts'
import type { EventPlace, FoundPlaces, PlacePage } from '../../ask-index.ts'
import { AskNames, periodOfRow } from './ask-names.ts'
import type { AskStatements } from './ask-statements.ts'
import { type IndexName, indexedFields } from './place-statements.ts'
import { type Direction, type PlacesPart, PlaceWalk, type Range } from './place-walk.ts'
import { positionsRecorded } from './positions-recorded.ts'
import { revisionsIn } from './revisions-in.ts'

/**
 * Walks the indexes of all values in turn: only the walks show which is the shortest. Operators and cellars can have many
 * places and few in common, so they have one index together. @throws AskUnusable
 */
export function* searchPlaces(
  statements: AskStatements,
  filter: LogFilter,
  page: PlacePage,
): Generator<void, FoundPlaces> {
  const names = new AskNames(statements)
  const wanted = wantedOf(names, filter)
  const range = rangeOf(statements, filter, page)
  if (wanted === null || range.after + 1 >= range.before) return { places: [], lookedTo: null }
  const searches = walksOf(statements, { wanted, range, direction: page.direction }).map(
    (walk) => new WalkSearch({ walk, wanted, names, limit: page.limit, isForwards: page.direction === 'forwards' }),
  )
  while (true) {
    for (const search of searches) {
      if (search.step()) return search.found
      yield
    }
  }
}

/** Numbers of `names`. `null` wants any. */
type Wanted = { readonly [field in FilterField]: number | null } & Pick<LogFilter, 'since' | 'until'> & {
    /** `type`, or all types that can be of the kind. */
    readonly types: readonly number[]
    /** Behind a thousand rows that were recorded at this time (ms) or later, no place is wanted. */
    readonly endMs: number
  }

/** `null`: a text of the filter is not in the index, so no place matches. */
const wantedOf = (names: AskNames, filter: LogFilter): Wanted | null => {
  const { since, until } = filter
  const candidates = typesThatCanBe(filter.kind).filter((type) => filter.type === null || filter.type === type)
  const types = candidates.map((type) => names.numberOf(type)).filter((number) => number !== null)
  const isMissing = (field: FilterField): boolean => filter[field] !== null && numberOf(field) === null
  const numberOf = (field: FilterField): number | null => {
    const text = filter[field]
    return text === null ? null : names.numberOf(text)
  }
  if (types.length === 0 || filterFields.some(isMissing)) return null
  return {
    stream: numberOf('stream'),
    kind: numberOf('kind'),
    type: numberOf('type'),
    actor: numberOf('actor'),
    key: numberOf('key'),
    cellar: numberOf('cellar'),
    types,
    since,
    until,
    endMs: recordedUntil(filter),
  }
}

/** Places that are added while the search runs are left out. Otherwise one walk could find them, and another could not. */
const rangeOf = (statements: AskStatements, filter: LogFilter, { direction, from }: PlacePage): Range => {
  const last = statements.lastPlace.get()?.position ?? -1
  const { after, before } = positionsRecorded(statements, filter)
  return direction === 'forwards'
    ? { after: Math.max(after, from ?? -1), before: last + 1 }
    : { after, before: Math.min(before, last + 1, from ?? last + 1) }
}

type WalkParts = { readonly wanted: Wanted; readonly range: Range; readonly direction: Direction }

/** Each walk meets all matching places. */
const walksOf = (statements: AskStatements, parts: WalkParts): readonly PlaceWalk[] => {
  const { actor, key, cellar, stream, kind, type } = parts.wanted
  const indexes: IndexName[] = []
  if (key !== null) indexes.push('places_of_key')
  if (actor !== null && cellar !== null) indexes.push('places_of_actor_in_cellar')
  else if (actor !== null) indexes.push('places_of_actor')
  else if (cellar !== null) indexes.push('places_of_cellar')
  if (stream !== null) indexes.push('places_of_stream')
  if (indexes.length === 0) indexes.push(type !== null ? 'places_of_type' : kind !== null ? 'places_of_kind' : 'places')
  const walks = statements.walks.filter(({ name }) => indexes.includes(name))
  return walks.map((walk) => new PlaceWalk(parts.direction, partsOf(statements, walk, parts)))
}

/** An index with the type has a part for each type. */
const partsOf = (
  statements: AskStatements,
  { name, ...walk }: AskStatements['walks'][number],
  { wanted, range, direction }: WalkParts,
): readonly PlacesPart[] => {
  const fields: readonly FilterField[] = indexedFields[name]
  const types = fields.includes('type') ? wanted.types : [null]
  const isOfStream = name === 'places_of_stream'
  return types.map((type) => {
    const values = fields.map((field) => (field === 'type' ? type : wanted[field]) ?? none)
    return {
      range: isOfStream ? revisionsIn(statements, wanted.stream ?? none, range) : range,
      orderOf: ({ position, revision }) => (isOfStream ? revision : position),
      read: ({ after, before }, limit) => walk[direction].all(after, before, limit, ...values),
    }
  })
}

/** No name has this number. */
const none = -1

type SearchParts = {
  readonly walk: PlaceWalk
  readonly wanted: Wanted
  readonly names: AskNames
  readonly limit: number
  readonly isForwards: boolean
}

class WalkSearch {
  readonly #parts: SearchParts
  readonly #places: EventPlace[] = []
  #lookedTo: number | null = null
  #laterInRow = 0

  constructor(parts: SearchParts) {
    this.#parts = parts
  }

  get found(): FoundPlaces {
    return { places: [...this.#places], lookedTo: this.#lookedTo }
  }

  /**
   * Reads about `askRowsAtOnceMax` rows, or finds `askFoundAtOnceMax` places, whose texts are further rows. Returns true at
   * the end.
   */
  step(): boolean {
    const { walk, wanted, names, limit, isForwards } = this.#parts
    const rowsReadMax = walk.rowsRead + askRowsAtOnceMax
    if (!walk.begin(askRowsAtOnceMax)) return false
    const foundMax = this.#places.length + askFoundAtOnceMax
    while (walk.rowsRead < rowsReadMax && this.#places.length < foundMax) {
      const row = walk.next()
      this.#lookedTo = row?.position ?? null
      if (row === null) return true
      this.#laterInRow = isForwards && row.recorded_at >= wanted.endMs ? this.#laterInRow + 1 : 0
      if (this.#laterInRow >= readPageEventsMax) {
        this.#lookedTo = null
        return true
      }
      if (!matches({ ...row, recordedAt: row.recorded_at, ...periodOfRow(row) }, wanted)) continue
      this.#places.push(names.placeOf(row))
      if (this.#places.length >= limit) return true
    }
    return false
  }
}

/** Searches for the places that match a filter, in small steps. */
import { typesThatCanBe } from '../../../domain/search/types-of-kind.ts'
import { askFoundAtOnceMax, askRowsAtOnceMax } from '../../../limits.ts'
import type { EventPlace, FoundPlaces, PlaceFilter, PlacePage } from '../../ask-index.ts'
import type { PlaceRow } from '../ask-rows.ts'
import { AskNames } from './ask-names.ts'
import type { AskStatements } from './ask-statements.ts'
import { type Direction, type PlacesPart, PlaceWalk, type Range } from './place-walk.ts'
import { positionsRecorded } from './positions-recorded.ts'
import { revisionsIn } from './revisions-in.ts'

/**
 * Each value of the filter has an index of its own. With several values, the search walks their indexes in turn, because only the walks show which is the shortest. Operators and
 * cellars can both have many places and few in common, so they have an index together.
 * @throws AskUnusable
 */
export function* searchPlaces(
  statements: AskStatements,
  filter: PlaceFilter,
  page: PlacePage,
): Generator<void, FoundPlaces> {
  const names = new AskNames(statements)
  const wanted = wantedOf(names, filter)
  const range = rangeOf(statements, filter, page)
  if (wanted === null || range.after + 1 >= range.before) return { places: [], lookedTo: null }
  const searches = walksOf(statements, { wanted, range, direction: page.direction }).map(
    (walk) => new WalkSearch({ walk, wanted, names, limit: page.limit }),
  )
  while (true) {
    for (const search of searches) {
      if (search.step()) return search.found
      yield
    }
  }
}

/** The filter with numbers of `names`. `null` wants any. */
type Wanted = {
  readonly stream: number | null
  readonly kind: number | null
  readonly actor: number | null
  readonly key: number | null
  readonly cellar: number | null
  readonly type: number | null
  /** `type`, or all types that can be of the kind. */
  readonly types: readonly number[]
  readonly since: number
  readonly until: number
}

/** Returns `null` if no place can match, because none has a text of the filter. */
const wantedOf = (names: AskNames, filter: PlaceFilter): Wanted | null => {
  const { since, until } = filter
  const candidates = typesThatCanBe(filter.kind).filter((type) => filter.type === null || filter.type === type)
  const types = candidates.map((type) => names.numberOf(type)).filter((number) => number !== null)
  if (types.length === 0) return null
  const missing = -1
  const numberOf = (text: string | null): number | null => (text === null ? null : (names.numberOf(text) ?? missing))
  const numbers = {
    stream: numberOf(filter.stream),
    kind: numberOf(filter.kind),
    actor: numberOf(filter.actor),
    key: numberOf(filter.key),
    cellar: numberOf(filter.cellar),
    type: numberOf(filter.type),
  }
  if (Object.values(numbers).includes(missing)) return null
  return { ...numbers, types, since: since ?? Number.NEGATIVE_INFINITY, until: until ?? Number.POSITIVE_INFINITY }
}

/** Places that are written during the search are left out. Otherwise one walk could find them, and another could not. */
const rangeOf = (statements: AskStatements, filter: PlaceFilter, { direction, from }: PlacePage): Range => {
  const last = statements.lastPlace.get()?.position ?? -1
  const { after, before } = positionsRecorded(statements, filter)
  return {
    after: direction === 'forwards' ? Math.max(after, from ?? -1) : after,
    before: Math.min(before, last + 1, direction === 'backwards' ? (from ?? last + 1) : last + 1),
  }
}

type WalkParts = { readonly wanted: Wanted; readonly range: Range; readonly direction: Direction }

/** Each walk meets all matching places. */
const walksOf = (statements: AskStatements, { wanted, range, direction }: WalkParts): readonly PlaceWalk[] => {
  const { ofActor, ofKey, ofCellar, ofActorInCellar, ofStream, ofType, ofKind, places } = statements
  const { actor, key, cellar, stream, kind, type } = wanted
  const walks: PlaceWalk[] = []
  const add = (parts: readonly PlacesPart[]): number => walks.push(new PlaceWalk(direction, parts))
  const inTypes = (read: (rest: Range, limit: number, type: number) => readonly PlaceRow[]): readonly PlacesPart[] =>
    wanted.types.map((each) => inPositions(range, (rest, limit) => read(rest, limit, each)))
  const inIndex = (index: typeof ofActor, number: number): readonly PlacesPart[] =>
    inTypes(({ after, before }, limit, each) => index[direction].all(after, before, limit, each, number))
  if (key !== null) add(inIndex(ofKey, key))
  if (actor !== null && cellar !== null) {
    const { [direction]: read } = ofActorInCellar
    add(inTypes(({ after, before }, limit, each) => read.all(after, before, limit, each, actor, cellar)))
  } else if (actor !== null) add(inIndex(ofActor, actor))
  else if (cellar !== null) add(inIndex(ofCellar, cellar))
  if (stream !== null) {
    const revisions = revisionsIn(statements, stream, range)
    add([inRevisions(revisions, ({ after, before }, limit) => ofStream[direction].all(after, before, limit, stream))])
  }
  if (walks.length > 0) return walks
  const read: PlacesPart['read'] = ({ after, before }, limit) => {
    if (type !== null) return ofType[direction].all(after, before, limit, type)
    if (kind !== null) return ofKind[direction].all(after, before, limit, kind)
    return places[direction].all(after, before, limit)
  }
  add([inPositions(range, read)])
  return walks
}

const inPositions = (range: Range, read: PlacesPart['read']): PlacesPart => ({
  range,
  orderOf: ({ position }) => position,
  read,
})

const inRevisions = (revisions: Range, read: PlacesPart['read']): PlacesPart => ({
  ...inPositions(revisions, read),
  orderOf: ({ revision }) => revision,
})

type SearchParts = {
  readonly walk: PlaceWalk
  readonly wanted: Wanted
  readonly names: AskNames
  readonly limit: number
}

class WalkSearch {
  readonly #parts: SearchParts
  readonly #places: EventPlace[] = []
  #lookedTo: number | null = null

  constructor(parts: SearchParts) {
    this.#parts = parts
  }

  get found(): FoundPlaces {
    return { places: [...this.#places], lookedTo: this.#lookedTo }
  }

  /**
   * Goes on by about `askRowsAtOnceMax` rows. Stops earlier behind `askFoundAtOnceMax` places, because their texts are in rows of
   * their own. Returns true if the search is done.
   */
  step(): boolean {
    const { walk, wanted, names, limit } = this.#parts
    const rowsReadMax = walk.rowsRead + askRowsAtOnceMax
    if (!walk.begin(askRowsAtOnceMax)) return false
    const foundMax = this.#places.length + askFoundAtOnceMax
    while (walk.rowsRead < rowsReadMax && this.#places.length < foundMax) {
      const row = walk.next()
      this.#lookedTo = row?.position ?? null
      if (row === null) return true
      if (!matches(row, wanted)) continue
      this.#places.push(names.placeOf(row))
      if (this.#places.length >= limit) return true
    }
    return false
  }
}

const matches = (row: PlaceRow, { stream, kind, type, actor, key, cellar, since, until }: Wanted): boolean =>
  (stream === null || row.stream === stream) &&
  (kind === null || row.kind === kind) &&
  (type === null || row.type === type) &&
  (actor === null || row.actor === actor) &&
  (key === null || row.key === key) &&
  (cellar === null || row.cellar === cellar) &&
  row.recorded_at >= since &&
  row.recorded_at < until

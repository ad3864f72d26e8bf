import { askFoundAtOnceMax } from '../../../limits.ts'
import type { EventPlace } from '../../ask-index.ts'
import type { PlaceRow } from '../ask-rows.ts'
import { idNumber } from '../id-number.ts'
import { AskNames } from './ask-names.ts'
import type { AskStatements } from './ask-statements.ts'

/** A request that changes many keys has one event for each of them. */
export const askPlacesOfIdMax = 1_000

/** `null`: the event is a reading, purged or not folded yet. @throws AskUnusable */
export const placeAt = (statements: AskStatements, position: number): EventPlace | null => {
  const [row] = statements.place.all(position)
  return row === undefined ? null : new AskNames(statements).placeOf(row)
}

/**
 * By the id of an event or a request, without readings, oldest first: at most `askPlacesOfIdMax`. The index keeps only a part of each id,
 * so other events can be among them. One request can have hundreds of events, so each step reads a few rows.
 * @throws AskUnusable
 */
export function* placesOfId(statements: AskStatements, id: string): Generator<void, readonly EventPlace[]> {
  const names = new AskNames(statements)
  const number = idNumber(id.toLowerCase())
  const places: EventPlace[] = []
  while (places.length < askPlacesOfIdMax) {
    const after = places.at(-1)?.position ?? -1
    const ofEvent = statements.placesOfEvent.all(number, after, askFoundAtOnceMax)
    const ofRequest = statements.placesOfRequest.all(number, after, askFoundAtOnceMax)
    const rows = firstOf([...ofEvent, ...ofRequest])
    for (const row of rows) places.push(names.placeOf(row))
    if (rows.length < askFoundAtOnceMax) break
    yield
  }
  return places.slice(0, askPlacesOfIdMax)
}

/** If an event has the same number twice, `request_number` is NULL. So no place comes from both queries. */
const firstOf = (rows: readonly PlaceRow[]): readonly PlaceRow[] =>
  rows.toSorted((a, b) => a.position - b.position).slice(0, askFoundAtOnceMax)

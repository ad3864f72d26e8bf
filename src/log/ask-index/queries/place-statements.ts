import type { Database } from 'bun:sqlite'
import type { FilterField } from '../../../domain/search/event-filter.ts'
import { type PlaceRow, placeColumns } from '../ask-rows.ts'

/** Each index is of these columns, then of positions (of a stream: revisions). */
export const indexedFields = {
  places: [],
  places_of_kind: ['kind'],
  places_of_type: ['type'],
  places_of_actor: ['type', 'actor'],
  places_of_key: ['type', 'key'],
  places_of_cellar: ['type', 'cellar'],
  places_of_actor_in_cellar: ['type', 'actor', 'cellar'],
  places_of_stream: ['stream'],
} as const satisfies Record<string, readonly FilterField[]>
export type IndexName = keyof typeof indexedFields
const indexNames = Object.keys(indexedFields).filter((name): name is IndexName => Object.hasOwn(indexedFields, name))

export const preparePlaceStatements = (database: Database) => ({
  lastPlace: database.prepare<{ position: number | null }, []>('SELECT max(position) AS position FROM places'),
  place: database.prepare<PlaceRow, [number]>(`SELECT ${placeColumns} FROM places WHERE position = ?`),
  /** An `idNumber`, the position of the row before, and the number of rows. */
  placesOfEvent: database.prepare<PlaceRow, [number, number, number]>(
    placesOfNumber('INDEXED BY places_of_event', 'event_number'),
  ),
  /** As in `placesOfEvent`. */
  placesOfRequest: database.prepare<PlaceRow, [number, number, number]>(
    placesOfNumber('INDEXED BY places_of_request', 'request_number'),
  ),
  /**
   * Parameters: the lower and the upper bound of the positions, neither included. Then the largest number of rows, and a value
   * for each of the index's `indexedFields`.
   */
  walks: indexNames.map((name) => ({
    name,
    forwards: database.prepare<PlaceRow, number[]>(placesIn(name, 'ASC')),
    backwards: database.prepare<PlaceRow, number[]>(placesIn(name, 'DESC')),
  })),
  lastRevision: database.prepare<{ revision: number | null }, [number]>(
    'SELECT max(revision) AS revision FROM places INDEXED BY places_of_stream WHERE stream = ?',
  ),
  /** The stream and a revision. */
  fromRevision: database.prepare<{ revision: number; position: number }, [number, number]>(`
    SELECT revision, position FROM places INDEXED BY places_of_stream
      WHERE stream = ? AND revision >= ? ORDER BY revision LIMIT 1
  `),
})

const placesOfNumber = (index: string, column: string): string =>
  `SELECT ${placeColumns} FROM places ${index} WHERE ${column} = ? AND position > ? ORDER BY position LIMIT ?`

/** Without `INDEXED BY`, SQLite could choose an index that reads far more rows. */
const placesIn = (index: IndexName, order: 'ASC' | 'DESC'): string => {
  const by = index === 'places_of_stream' ? 'revision' : 'position'
  const conditions = [`${by} > ?1`, `${by} < ?2`, ...indexedFields[index].map((field, at) => `${field} = ?${at + 4}`)]
  const from = index === 'places' ? 'places' : `places INDEXED BY ${index}`
  return `SELECT ${placeColumns} FROM ${from} WHERE ${conditions.join(' AND ')} ORDER BY ${by} ${order} LIMIT ?3`
}

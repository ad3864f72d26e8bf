import type { Database } from 'bun:sqlite'
import { type PlaceRow, placeColumns } from '../ask-rows.ts'
import type { Direction } from './place-walk.ts'

/** In both directions, the first two values are bounds, which are not included, and the third is the number of rows. */
export const preparePlaceStatements = (database: Database) => ({
  lastPlace: database.prepare<{ position: number | null }, []>('SELECT max(position) AS position FROM places'),
  place: database.prepare<PlaceRow, [number]>(`SELECT ${placeColumns} FROM places WHERE position = ?`),
  /** The values are an `idNumber`, the position of the row before, and the number of rows. */
  placesOfEvent: database.prepare<PlaceRow, [number, number, number]>(
    placesOfNumber('INDEXED BY places_of_event', 'event_number'),
  ),
  /** The values are those of `placesOfEvent`. */
  placesOfRequest: database.prepare<PlaceRow, [number, number, number]>(
    placesOfNumber('INDEXED BY places_of_request', 'request_number'),
  ),
  places: inBothDirections((order) =>
    database.prepare<PlaceRow, [number, number, number]>(placesIn('', '', 'position', order)),
  ),
  ofKind: inBothDirections((order) =>
    database.prepare<PlaceRow, [number, number, number, number]>(
      placesIn('INDEXED BY places_of_kind', 'kind = ?4 AND', 'position', order),
    ),
  ),
  ofType: inBothDirections((order) =>
    database.prepare<PlaceRow, [number, number, number, number]>(
      placesIn('INDEXED BY places_of_type', 'type = ?4 AND', 'position', order),
    ),
  ),
  ofActor: inBothDirections((order) =>
    database.prepare<PlaceRow, [number, number, number, number, number]>(
      placesIn('INDEXED BY places_of_actor', 'type = ?4 AND actor = ?5 AND', 'position', order),
    ),
  ),
  ofKey: inBothDirections((order) =>
    database.prepare<PlaceRow, [number, number, number, number, number]>(
      placesIn('INDEXED BY places_of_key', 'type = ?4 AND key = ?5 AND', 'position', order),
    ),
  ),
  ofCellar: inBothDirections((order) =>
    database.prepare<PlaceRow, [number, number, number, number, number]>(
      placesIn('INDEXED BY places_of_cellar', 'type = ?4 AND cellar = ?5 AND', 'position', order),
    ),
  ),
  ofActorInCellar: inBothDirections((order) =>
    database.prepare<PlaceRow, [number, number, number, number, number, number]>(
      placesIn(
        'INDEXED BY places_of_actor_in_cellar',
        'type = ?4 AND actor = ?5 AND cellar = ?6 AND',
        'position',
        order,
      ),
    ),
  ),
  /** The range is of revisions. */
  ofStream: inBothDirections((order) =>
    database.prepare<PlaceRow, [number, number, number, number]>(
      placesIn('INDEXED BY places_of_stream', 'stream = ?4 AND', 'revision', order),
    ),
  ),
  lastRevision: database.prepare<{ revision: number | null }, [number]>(
    'SELECT max(revision) AS revision FROM places INDEXED BY places_of_stream WHERE stream = ?',
  ),
  /** The values are the stream and a revision. */
  fromRevision: database.prepare<{ revision: number; position: number }, [number, number]>(`
    SELECT revision, position FROM places INDEXED BY places_of_stream
      WHERE stream = ? AND revision >= ? ORDER BY revision LIMIT 1
  `),
})

const placesOfNumber = (index: string, column: string): string =>
  `SELECT ${placeColumns} FROM places ${index} WHERE ${column} = ? AND position > ? ORDER BY position LIMIT ?`

type Order = 'ASC' | 'DESC'

const inBothDirections = <Prepared>(prepare: (order: Order) => Prepared): Readonly<Record<Direction, Prepared>> => ({
  forwards: prepare('ASC'),
  backwards: prepare('DESC'),
})

/** Without `INDEXED BY`, SQLite could choose an index that reads far more rows. */
const placesIn = (index: string, condition: string, by: 'position' | 'revision', order: Order): string =>
  `SELECT ${placeColumns} FROM places ${index} WHERE ${condition} ${by} > ?1 AND ${by} < ?2 ORDER BY ${by} ${order} LIMIT ?3`

import type { Database } from 'bun:sqlite'
import type { HourCountRow, MinuteCountRow, MinuteRow, NameRow, SeenRow } from '../ask-rows.ts'
import { acceptedCode } from '../ask-schema.ts'
import { preparePlaceStatements } from './place-statements.ts'

type HourOfKeyRow = Omit<HourCountRow, 'key' | 'minute' | 'in_minute'>
/** `wanted` is the place of the key in the list. */
type HourOfWantedRow = Pick<HourCountRow, 'code' | 'count' | 'busiest'> & { readonly wanted: number }
/** `total`: the racks of the key. */
type LatestRackRow = Pick<SeenRow, 'rack' | 'minute'> & { readonly total: number }
export type PeakRow = Pick<HourCountRow, 'cellar' | 'key' | 'busiest'>
export type RefusalRow = Pick<HourCountRow, 'key' | 'hour' | 'code' | 'count'>

export type AskStatements = ReturnType<typeof prepareAskStatements>

export const prepareAskStatements = (database: Database) => ({
  ...preparePlaceStatements(database),
  nameOfText: database.prepare<NameRow, [string]>('SELECT id, name FROM names WHERE name = ?'),
  nameOfNumber: database.prepare<NameRow, [number]>('SELECT id, name FROM names WHERE id = ?'),
  minuteFrom: database.prepare<MinuteRow, [number, number]>(
    'SELECT minute, position FROM minutes WHERE minute >= ? ORDER BY minute LIMIT ?',
  ),
  minuteUpTo: database.prepare<MinuteRow, [number]>(
    'SELECT minute, position FROM minutes WHERE minute <= ? ORDER BY minute DESC LIMIT 1',
  ),
  /** Cellar, minute and code of the row before, the minute after the last one, number of rows. */
  minuteCounts: database.prepare<MinuteCountRow, [number, number, number, number, number]>(`
    SELECT cellar, minute, code, count FROM minute_counts
      WHERE cellar = ? AND (minute, code) > (?, ?) AND minute < ? ORDER BY minute, code LIMIT ?
  `),
  hourOfKey: database.prepare<HourOfKeyRow, [number, number]>(
    'SELECT hour, code, cellar, count, busiest FROM hour_counts WHERE hour = ? AND key = ? ORDER BY code',
  ),
  /** Numbers of keys as JSON, and the hour. */
  hourOfKeys: database.prepare<HourOfWantedRow, [string, number]>(`
    SELECT wanted.key AS wanted, code, count, busiest FROM json_each(?) AS wanted
      CROSS JOIN hour_counts AS counts ON counts.hour = ? AND counts.key = wanted.value
  `),
  /** Cellar and key of the row before, the last cellar, the first hour, and the number of rows. */
  peaksAfter: database.prepare<PeakRow, [number, number, number, number, number]>(`
    SELECT cellar, key, max(busiest) AS busiest FROM peaks
      WHERE (cellar, key) > (?, ?) AND cellar <= ? AND hour >= ? GROUP BY cellar, key LIMIT ?
  `),
  namesOfNumbers: database.prepare<Pick<NameRow, 'name'>, [string]>(
    'SELECT name FROM json_each(?) AS wanted CROSS JOIN names ON names.id = wanted.value',
  ),
  /** The cellar, and the hour, key and code of the row before. */
  refusalsAfter: database.prepare<RefusalRow, [number, number, number, number, number]>(`
    SELECT key, hour, code, count FROM hour_counts INDEXED BY refusals_of_cellar
      WHERE cellar = ? AND (hour, key, code) > (?, ?, ?) AND code <> ${acceptedCode} ORDER BY hour, key, code LIMIT ?
  `),
  /** The cellar before, and the last cellar. */
  refusedCellarAfter: database.prepare<Pick<HourCountRow, 'cellar'>, [number, number]>(`
    SELECT cellar FROM hour_counts INDEXED BY refusals_of_cellar
      WHERE cellar > ? AND cellar <= ? AND code <> ${acceptedCode} ORDER BY cellar LIMIT 1
  `),
  seenOfKey: database.prepare<Pick<SeenRow, 'minute'>, [string, string]>(
    'SELECT minute FROM names JOIN seen ON seen.key = names.id WHERE names.name = ? AND seen.rack = ?',
  ),
  /** An index in the order of minutes would change with each reading. Without it, a key with 100,000 racks takes 10 ms. */
  latestRacksOfKey: database.prepare<LatestRackRow, [number, number]>(`
    SELECT rack, minute, (SELECT count(*) FROM seen WHERE key = ?1) AS total FROM seen
      WHERE key = ?1 ORDER BY minute DESC, rack LIMIT ?2
  `),
  /** The key, the rack of the row before, and the number of rows. */
  racksOfKey: database.prepare<Pick<SeenRow, 'rack' | 'minute'>, [number, string, number]>(
    'SELECT rack, minute FROM seen WHERE key = ? AND rack > ? ORDER BY rack LIMIT ?',
  ),
  seenFrom: database.prepare<Pick<SeenRow, 'minute'>, []>('SELECT minute FROM seen_from'),
})

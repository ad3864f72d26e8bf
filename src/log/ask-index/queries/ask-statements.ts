import type { Database } from 'bun:sqlite'
import type { HourCountRow, MinuteCountRow, MinuteRow, NameRow, SeenRow } from '../ask-rows.ts'
import { acceptedCode } from '../ask-schema.ts'
import { preparePlaceStatements } from './place-statements.ts'

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
  /** Key, hour and code of the row before, the hour after the last one, number of rows. */
  hourCounts: database.prepare<HourCountRow, [number, number, number, number, number]>(`
    SELECT key, hour, code, cellar, count FROM hour_counts
      WHERE key = ? AND (hour, code) > (?, ?) AND hour < ? ORDER BY hour, code LIMIT ?
  `),
  /** The cellar, and the hour, key and code of the row before. */
  refusalsAfter: database.prepare<HourCountRow, [number, number, number, number, number]>(`
    SELECT key, hour, code, cellar, count FROM hour_counts INDEXED BY refusals_of_cellar
      WHERE cellar = ? AND (hour, key, code) > (?, ?, ?) AND code <> ${acceptedCode} ORDER BY hour, key, code LIMIT ?
  `),
  seenOfKey: database.prepare<Pick<SeenRow, 'minute'>, [string, string]>(
    'SELECT minute FROM names JOIN seen ON seen.key = names.id WHERE names.name = ? AND seen.rack = ?',
  ),
})

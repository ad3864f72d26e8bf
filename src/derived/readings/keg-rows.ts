import type { Database } from 'bun:sqlite'
import { orderKey } from '../../domain/search/order-key.ts'
import { readingsStream } from '../../domain/stream-names.ts'
import { retentionMarginMs } from '../../limits.ts'
import type { KegName, LatestReading } from './shown-kegs.ts'
import { timestampOf } from './stored-kegs.ts'

/** A question gives way after this number of look-ups or shown rows: about 1 ms. */
export const readingsAskedPerStep = 500
/** Rows that one statement passes without showing them: about 1 ms. */
export const kegsPassedPerStep = 2_000

export type StoredCellar = {
  readonly number: number
  readonly kegs: number
  readonly kept_from_ms: number | null
}

export const cellarNamed = (database: Database, name: string): StoredCellar | null =>
  database.query<StoredCellar, [string]>('SELECT number, kegs, kept_from_ms FROM cellars WHERE name = ?').get(name)

/** Nothing with an earlier time is folded. */
export const timesKeptFrom = ({ kept_from_ms: keptFromMs }: StoredCellar): number | null =>
  keptFromMs === null ? null : keptFromMs + retentionMarginMs

export const kegNumberOf = (database: Database, cellar: number, { rack, keg }: KegName): number | null =>
  database
    .query<{ readonly number: number }, [number, string, string]>(
      'SELECT number FROM kegs WHERE cellar = ? AND rack_order = ? AND keg_order = ?',
    )
    .get(cellar, orderKey(rack), orderKey(keg))?.number ?? null

export const kegOfNumber = (database: Database, cellar: number, number: number): KegName | null =>
  database
    .query<KegName, [number, number]>('SELECT rack, keg FROM kegs WHERE cellar = ? AND number = ?')
    .get(cellar, number)

type StoredKeg = {
  readonly key_id: string
  readonly revision: number
  readonly position: number
  readonly recorded_ms: number
  readonly time_ms: number
  readonly timestamp: string | null
  readonly value: number
  readonly accepted_ms: number
  readonly pause_ms: number | null
  readonly silent_from_ms: number
}

export type LatestOfKeg = {
  readonly latest: LatestReading
  readonly acceptedMs: number
  readonly pauseMs: number | null
  readonly silentFromMs: number
}

export const latestOf = (database: Database, cellar: number, number: number): LatestOfKeg | null => {
  const stored = database
    .query<StoredKeg, [number, number]>(
      `SELECT key_id, revision, position, recorded_ms, time_ms, timestamp, value, accepted_ms, pause_ms, silent_from_ms
        FROM latest WHERE cellar = ? AND keg = ?`,
    )
    .get(cellar, number)
  if (stored === null) return null
  const latest = {
    stream: readingsStream(stored.key_id),
    keyId: stored.key_id,
    revision: stored.revision,
    position: stored.position,
    recordedAt: stored.recorded_ms,
    value: stored.value,
    timestamp: timestampOf(stored.time_ms, stored.timestamp),
    timeMs: stored.time_ms,
  }
  const { accepted_ms: acceptedMs, pause_ms: pauseMs, silent_from_ms: silentFromMs } = stored
  return { latest, acceptedMs, pauseMs, silentFromMs }
}

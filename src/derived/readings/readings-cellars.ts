import type { Database, Statement } from 'bun:sqlite'
import { retentionMarginMs } from '../../limits.ts'
import type { KegOfCellar } from './keg-slots.ts'
import { RecentReadings } from './recent-readings.ts'
import type { SilentKegs } from './silent-kegs.ts'

/**
 * `kept_from_ms` is the midnight of the last purge. `kegs_made` is the number of the next keg: no number is used twice.
 * `kept` has one row.
 */
export const cellarTable = `
  CREATE TABLE cellars (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    kegs INTEGER NOT NULL,
    kegs_made INTEGER NOT NULL,
    kept_from_ms INTEGER
  ) STRICT;
  CREATE TABLE kept (first_minute INTEGER) STRICT;
  INSERT INTO kept VALUES (NULL);`

export type ReadingsCellar = {
  readonly number: number
  readonly name: string
  kegCount: number
  kegsMade: number
  /** Kegs that the file may still have, by number. */
  readonly gone: Map<number, KegOfCellar>
  keptFromMs: number | null
  timesFromMs: number
  isDirty: boolean
  /** The file can still have readings from before the last purge. */
  isPurged: boolean
  readonly recent: RecentReadings
  silent: SilentKegs | null
}

type StoredCellar = {
  readonly number: number
  readonly name: string
  readonly kegs: number
  readonly kegs_made: number
  readonly kept_from_ms: number | null
}

export class ReadingsCellars {
  readonly #named = new Map<string, ReadingsCellar>()
  readonly #write: Statement
  readonly #keep: Statement

  constructor(database: Database) {
    const stored = database.query<StoredCellar, []>('SELECT * FROM cellars').all()
    for (const cellar of stored) this.#add(cellar)
    this.#write = database.prepare('REPLACE INTO cellars VALUES (?, ?, ?, ?, ?)')
    this.#keep = database.prepare('UPDATE kept SET first_minute = ?')
  }

  all(): Iterable<ReadingsCellar> {
    return this.#named.values()
  }

  named(name: string): ReadingsCellar {
    const known = this.#named.get(name)
    if (known !== undefined) return known
    const cellar = this.#add({ number: this.#named.size + 1, name, kegs: 0, kegs_made: 0, kept_from_ms: null })
    cellar.isDirty = true
    return cellar
  }

  keepFrom(cellar: ReadingsCellar, acceptedMs: number): boolean {
    if (cellar.keptFromMs !== null && acceptedMs <= cellar.keptFromMs) return false
    cellar.keptFromMs = acceptedMs
    cellar.timesFromMs = timesFrom(acceptedMs)
    cellar.recent.forgetBefore(acceptedMs)
    cellar.isDirty = true
    cellar.isPurged = true
    return true
  }

  write(cellar: ReadingsCellar): void {
    if (!cellar.isDirty) return
    this.#write.run(cellar.number, cellar.name, cellar.kegCount, cellar.kegsMade, cellar.keptFromMs)
    cellar.isDirty = false
  }

  keepMinutesFrom(firstMinute: number | null): void {
    this.#keep.run(firstMinute)
  }

  #add({ number, name, kegs, kegs_made: kegsMade, kept_from_ms: keptFromMs }: StoredCellar): ReadingsCellar {
    const cellar: ReadingsCellar = {
      number,
      name,
      kegCount: kegs,
      kegsMade,
      gone: new Map(),
      keptFromMs,
      timesFromMs: timesFrom(keptFromMs),
      isDirty: false,
      isPurged: false,
      recent: new RecentReadings(),
      silent: null,
    }
    this.#named.set(name, cellar)
    return cellar
  }
}

/**
 * Timestamps can be a little later than the acceptance (`futureSkewMsMax`). So the models forget all times up to an hour
 * after the purge's midnight: a whole hour, because points of hours cannot be divided.
 */
const timesFrom = (keptFromMs: number | null): number =>
  keptFromMs === null ? Number.NEGATIVE_INFINITY : keptFromMs + retentionMarginMs

import type { Database, Statement } from 'bun:sqlite'
import { secondText } from '../../domain/calendar.ts'
import { nanosecondsPastMs } from '../../domain/reading/parse-timestamp.ts'
import { pauseToJudge, silentAfterMs } from '../../domain/reading/silence.ts'
import { orderKey } from '../../domain/search/order-key.ts'
import { modelRowsPerStep, retentionMarginMs } from '../../limits.ts'
import {
  arrivalBytes,
  cellarNumber,
  firstAcceptedOf,
  isStored,
  kegNumber,
  lastAccepted,
  latestMs,
  latestNanoseconds,
  latestPosition,
  latestRecordedAt,
  latestRevision,
  latestValue,
  oldestTimeOf,
  pausesOf,
  takeArrivals,
  takeTimes,
  timeBytes,
  usualPauseOf,
} from './keg-numbers.ts'
import type { KegOfCellar, KegSlots } from './keg-slots.ts'
import type { KegName } from './shown-kegs.ts'

/**
 * Order keys are different for different names, so they also find a keg. `searched` has both
 * names in lower case, which SQLite knows only of ASCII. `timestamp` is NULL for the form `YYYY-MM-DDThh:mm:ssZ`, which follows from `time_ms`.
 */
export const kegTables = `
  CREATE TABLE kegs (
    cellar INTEGER NOT NULL,
    rack_order TEXT NOT NULL,
    keg_order TEXT NOT NULL,
    rack TEXT NOT NULL,
    keg TEXT NOT NULL,
    number INTEGER NOT NULL,
    searched TEXT NOT NULL,
    PRIMARY KEY (cellar, rack_order, keg_order)
  ) STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX keg_numbers ON kegs (cellar, number);
  CREATE TABLE latest (
    cellar INTEGER NOT NULL,
    keg INTEGER NOT NULL,
    key_id TEXT NOT NULL,
    revision INTEGER NOT NULL,
    position INTEGER NOT NULL,
    recorded_ms INTEGER NOT NULL,
    time_ms INTEGER NOT NULL,
    timestamp TEXT,
    value REAL NOT NULL,
    accepted_ms INTEGER NOT NULL,
    pause_ms INTEGER,
    silent_from_ms INTEGER NOT NULL,
    oldest_ms INTEGER NOT NULL,
    times BLOB NOT NULL,
    arrivals BLOB NOT NULL,
    PRIMARY KEY (cellar, keg)
  ) STRICT, WITHOUT ROWID;`

/** A full cellar reads this number of its oldest kegs at once. */
export const lastsAtOnce = 2_000

/** The place of its latest reading. */
export type KegAtTime = {
  readonly number: number
  readonly timeMs: number
  readonly position: number
  /** Names can be long, so they are read only for the keg that is forgotten. */
  readonly name?: KegName
}

export type NamedKegAtTime = KegAtTime & { readonly name: KegName }

type NamedKeg = KegName & { readonly number: number }

type StoredKeg = {
  readonly position: number
  readonly time_ms: number
  readonly timestamp: string | null
  readonly key_id: string
  readonly revision: number
  readonly recorded_ms: number
  readonly value: number
  readonly accepted_ms: number
  readonly times: Uint8Array
  readonly arrivals: Uint8Array
}

export class StoredKegs {
  readonly #slots: KegSlots
  readonly #find: Statement<{ readonly number: number }, [number, string, string]>
  readonly #latest: Statement<StoredKeg, [number, number]>
  readonly #nameOf: Statement<KegName, [number, number]>
  readonly #oldest: Statement<KegAtTime, [number, number, number]>
  readonly #withOlder: Statement<NamedKeg, [number, number, number]>
  readonly #name: Statement
  readonly #write: Statement
  readonly #deleteName: Statement
  readonly #deleteLatest: Statement

  constructor(database: Database, slots: KegSlots) {
    this.#slots = slots
    this.#find = database.prepare('SELECT number FROM kegs WHERE cellar = ? AND rack_order = ? AND keg_order = ?')
    this.#latest = database.prepare('SELECT * FROM latest WHERE cellar = ? AND keg = ?')
    this.#nameOf = database.prepare('SELECT rack, keg FROM kegs WHERE cellar = ? AND number = ?')
    this.#oldest = database.prepare(
      `SELECT keg AS number, time_ms AS timeMs, position FROM latest WHERE cellar = ? AND (time_ms, position) > (?, ?)
        ORDER BY time_ms, position LIMIT ${lastsAtOnce}`,
    )
    // SQLite must read the latest readings first: there is no index of their times.
    this.#withOlder = database.prepare(`
      SELECT number, rack, kegs.keg
        FROM latest CROSS JOIN kegs ON kegs.cellar = latest.cellar AND kegs.number = latest.keg
        WHERE latest.cellar = ? AND latest.keg > ? AND oldest_ms < ? ORDER BY latest.keg LIMIT ${modelRowsPerStep}
    `)
    this.#name = database.prepare('INSERT INTO kegs VALUES (?, ?, ?, ?, ?, ?, ?)')
    this.#write = database.prepare('REPLACE INTO latest VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
    this.#deleteName = database.prepare('DELETE FROM kegs WHERE cellar = ? AND rack_order = ? AND keg_order = ?')
    this.#deleteLatest = database.prepare('DELETE FROM latest WHERE cellar = ? AND keg = ?')
  }

  /** `null`: the file does not have it, or has it with a number in `gone`. */
  load(named: KegOfCellar, gone: { has(number: number): boolean }): number | null {
    // Not one query of both tables: Bun takes 40 µs for a missing row with many columns.
    const found = this.#find.get(named.cellar, orderKey(named.rack), orderKey(named.keg))
    if (found === null || gone.has(found.number)) return null
    const stored = this.#latest.get(named.cellar, found.number)
    if (stored === null) return null
    const slot = this.#slots.take(named)
    const keg = this.#slots.of(slot)
    const { numbers, from } = keg
    numbers[from + kegNumber] = found.number
    numbers[from + isStored] = 1
    numbers[from + latestMs] = stored.time_ms
    numbers[from + latestNanoseconds] = nanosecondsOf(stored.timestamp)
    numbers[from + latestPosition] = stored.position
    numbers[from + latestRevision] = stored.revision
    numbers[from + latestRecordedAt] = stored.recorded_ms
    numbers[from + latestValue] = stored.value
    numbers[from + lastAccepted] = stored.accepted_ms
    takeTimes(keg, stored.times)
    takeArrivals(keg, stored.arrivals)
    this.#slots.keyIds[slot] = stored.key_id
    this.#slots.timestamps[slot] = stored.timestamp
    return slot
  }

  write(slot: number): void {
    const { racks, kegs, keyIds, timestamps } = this.#slots
    const keg = this.#slots.of(slot)
    const { numbers, from } = keg
    const cellar = numbers[from + cellarNumber] ?? 0
    const number = numbers[from + kegNumber] ?? 0
    if (numbers[from + isStored] === 0) {
      const [rack, name] = [racks[slot] ?? '', kegs[slot] ?? '']
      const searched = `${rack.toLowerCase()}\n${name.toLowerCase()}`
      this.#name.run(cellar, orderKey(rack), orderKey(name), rack, name, number, searched)
      numbers[from + isStored] = 1
    }
    const accepted = numbers[from + lastAccepted] ?? 0
    const pauses = pausesOf(keg)
    this.#write.run(
      cellar,
      number,
      keyIds[slot] ?? '',
      numbers[from + latestRevision] ?? 0,
      numbers[from + latestPosition] ?? 0,
      numbers[from + latestRecordedAt] ?? 0,
      numbers[from + latestMs] ?? 0,
      timestamps[slot] ?? null,
      numbers[from + latestValue] ?? 0,
      accepted,
      usualPauseOf(pauses),
      accepted + silentAfterMs(pauseToJudge(pauses)),
      // As in `readings-cellars.ts`: times are forgotten up to this margin after the purge's midnight.
      Math.min(oldestTimeOf(keg), firstAcceptedOf(keg) + retentionMarginMs),
      timeBytes(keg),
      arrivalBytes(keg),
    )
  }

  delete(number: number, { cellar, rack, keg }: KegOfCellar): void {
    this.#deleteName.run(cellar, orderKey(rack), orderKey(keg))
    this.#deleteLatest.run(cellar, number)
  }

  nameOf(cellar: number, number: number): KegName | null {
    return this.#nameOf.get(cellar, number)
  }

  /** The first `lastsAtOnce` kegs after that place. */
  oldest(cellar: number, after: KegAtTime): readonly KegAtTime[] {
    return this.#oldest.all(cellar, after.timeMs, after.position)
  }

  /** Kegs that remember a time before `ms`, by their numbers. */
  withOlder(cellar: number, afterNumber: number, ms: number): readonly NamedKeg[] {
    return this.#withOlder.all(cellar, afterNumber, ms)
  }
}

const nanosecondsOf = (timestamp: string | null): number => (timestamp === null ? 0 : nanosecondsPastMs(timestamp))

export const timestampOf = (timeMs: number, timestamp: string | null): string => timestamp ?? secondText(timeMs)

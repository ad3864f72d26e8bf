import type { Database, Statement } from 'bun:sqlite'
import { readingsStream } from '../../domain/stream-names.ts'
import type { ReadingPlace } from './shown-kegs.ts'

export const latestReadingsPerCellarMax = 50

/** Ordered by acceptance, as purges are, so it does not matter whether purged readings were folded. */
export const recentTable = `
  CREATE TABLE recent (
    cellar INTEGER NOT NULL,
    recorded_ms INTEGER NOT NULL,
    position INTEGER NOT NULL,
    key_id TEXT NOT NULL,
    revision INTEGER NOT NULL,
    PRIMARY KEY (cellar, recorded_ms, position)
  ) STRICT, WITHOUT ROWID;`

export type RecentReading = {
  readonly recordedAt: number
  readonly position: number
  readonly keyId: string
  readonly revision: number
}

/** If more readings wait, those that cannot be among the last ones are dropped. */
const waitingMax = 16 * latestReadingsPerCellarMax

export class RecentReadings {
  #waiting: RecentReading[] = []

  push(reading: RecentReading): void {
    this.#waiting.push(reading)
    if (this.#waiting.length > waitingMax) this.#waiting = lastOf(this.#waiting)
  }

  forgetBefore(acceptedMs: number): void {
    this.#waiting = this.#waiting.filter(({ recordedAt }) => recordedAt >= acceptedMs)
  }

  take(): readonly RecentReading[] {
    const taken = lastOf(this.#waiting)
    this.#waiting = []
    return taken
  }
}

const lastOf = (readings: readonly RecentReading[]): RecentReading[] =>
  readings.toSorted((a, b) => a.recordedAt - b.recordedAt || a.position - b.position).slice(-latestReadingsPerCellarMax)

export class StoredRecent {
  readonly #insert: Statement
  readonly #cut: Statement
  readonly #forget: Statement

  constructor(database: Database) {
    this.#insert = database.prepare('INSERT INTO recent VALUES (?, ?, ?, ?, ?)')
    this.#cut = database.prepare(
      `DELETE FROM recent WHERE cellar = ?1 AND (recorded_ms, position) <=
        (SELECT recorded_ms, position FROM recent WHERE cellar = ?1
          ORDER BY recorded_ms DESC, position DESC LIMIT 1 OFFSET ${latestReadingsPerCellarMax})`,
    )
    this.#forget = database.prepare('DELETE FROM recent WHERE cellar = ? AND recorded_ms < ?')
  }

  add(cellar: number, readings: readonly RecentReading[]): void {
    for (const { recordedAt, position, keyId, revision } of readings) {
      this.#insert.run(cellar, recordedAt, position, keyId, revision)
    }
    if (readings.length > 0) this.#cut.run(cellar)
  }

  forgetBefore(cellar: number, acceptedMs: number): void {
    this.#forget.run(cellar, acceptedMs)
  }
}

/** Newest first, at most `latestReadingsPerCellarMax`. */
export const recentReadings = (database: Database, cellar: string): readonly ReadingPlace[] =>
  database
    .query<{ recorded_ms: number; position: number; key_id: string; revision: number }, [string]>(
      `SELECT recorded_ms, position, key_id, revision FROM cellars JOIN recent ON recent.cellar = cellars.number
        WHERE cellars.name = ? ORDER BY recorded_ms DESC, position DESC`,
    )
    .all(cellar)
    .map(({ recorded_ms: recordedAt, position, key_id: keyId, revision }) => ({
      stream: readingsStream(keyId),
      keyId,
      revision,
      position,
      recordedAt,
    }))

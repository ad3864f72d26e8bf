import type { Database } from 'bun:sqlite'
import { hourMs, minuteMs } from '../../domain/calendar.ts'
import { CellReader, cellOf } from './cells.ts'
import { readingsAskedPerStep } from './keg-rows.ts'

/** Which table has the buckets, and how long they are. */
export type Level = { readonly table: 'minutes' | 'hours'; readonly ms: number }

export const minuteLevel: Level = { table: 'minutes', ms: minuteMs }
export const hourLevel: Level = { table: 'hours', ms: hourMs }

export type TakeBucket = (keg: number, time: number, numbers: Float64Array) => void

type Buckets = {
  readonly level: Level
  readonly cellar: number
  readonly kegs: readonly number[]
  /** Numbers of buckets. `to` is not included. */
  readonly from: number
  readonly to: number
  readonly steps: AskedSteps
}

/** All loops of a question together give way after the same number of look-ups and read buckets. */
export class AskedSteps {
  #asked = 0

  isFull(asked = 1): boolean {
    this.#asked += asked
    if (this.#asked < readingsAskedPerStep) return false
    this.#asked = 0
    return true
  }
}

/** Calls `take` in the order of time. The numbers are overwritten afterwards. Kegs that share a cell need one look-up. */
export function* eachBucket(database: Database, { level, cellar, kegs, steps, ...range }: Buckets, take: TakeBucket) {
  const cells = Map.groupBy(
    kegs.toSorted((a, b) => a - b),
    cellOf,
  )
  const stored = storedRange(database, level, cellar)
  const [from, to] = [Math.max(range.from, stored.from), Math.min(range.to, stored.to)]
  for (let time = from; time < to; time += 1) {
    for (const [cell, ofCell] of cells) {
      if (steps.isFull(1 + ofCell.length)) yield
      const reader = readerOf(database, level, { cellar, time, cell })
      if (reader === null) continue
      for (const keg of ofCell) if (reader.find(keg)) take(keg, time, reader.numbers)
    }
  }
}

type CellPlace = { readonly cellar: number; readonly time: number; readonly cell: number }

const readerOf = (database: Database, { table }: Level, { cellar, time, cell }: CellPlace): CellReader | null => {
  const row = database
    .query<{ readonly buckets: Uint8Array }, [number, number, number]>(
      `SELECT buckets FROM ${table} WHERE cellar = ? AND time = ? AND cell = ?`,
    )
    .get(cellar, time, cell)
  return row === null ? null : new CellReader(row.buckets)
}

/** `null`: no reading. The caller must not keep the numbers. */
export const bucketOf = (
  database: Database,
  level: Level,
  { cellar, keg, time }: { readonly cellar: number; readonly keg: number; readonly time: number },
): Float64Array | null => {
  const reader = readerOf(database, level, { cellar, time, cell: cellOf(keg) })
  return reader?.find(keg) === true ? reader.numbers : null
}

/** A question for a hundred years reads no more than there is. */
export const storedRange = (database: Database, { table }: Level, cellar: number) => {
  const { first, last } = database
    .query<{ readonly first: number | null; readonly last: number | null }, [number]>(
      `SELECT (SELECT min(time) FROM ${table} WHERE cellar = ?1) AS first,
        (SELECT max(time) FROM ${table} WHERE cellar = ?1) AS last`,
    )
    .get(cellar) ?? { first: null, last: null }
  return { from: first ?? 0, to: last === null ? 0 : last + 1 }
}

import { hourMs, minuteMs } from '../../domain/calendar.ts'

/** A bucket's `time` is its number since 1970. */
export const levels = [
  { table: 'minutes', ms: minuteMs },
  { table: 'hours', ms: hourMs },
] as const

/**
 * `firstAt` and `lastAt` are ms since the bucket's beginning. The lowest and the highest reading are the first ones of equals in the
 * log. An hour also has the readings of its second half apart, so that a list can draw half hours.
 */
export const bucketTime = 0
export const bucketCount = 1
export const bucketMin = 2
export const bucketMax = 3
/** Of the first half of an hour, or of the whole minute. */
export const bucketSum = 4
export const bucketFirst = 5
export const bucketFirstAt = 6
export const bucketLast = 7
export const bucketLastAt = 8
export const bucketMinPosition = 9
export const bucketMaxPosition = 10
export const bucketLate = 11
export const bucketLateMs = 12
export const bucketRepeats = 13
export const bucketSecondCount = 14
export const bucketSecondSum = 15
export const isBucketDirty = 16
export const numbersPerBucket = 17

/** `buckets` has the numbers of the cell's kegs (`cells.ts`). */
export const levelTables = levels
  .map(
    ({ table }) => `
  CREATE TABLE ${table} (
    cellar INTEGER NOT NULL,
    time INTEGER NOT NULL,
    cell INTEGER NOT NULL,
    buckets BLOB NOT NULL,
    PRIMARY KEY (cellar, time, cell)
  ) STRICT, WITHOUT ROWID;`,
  )
  .join('')

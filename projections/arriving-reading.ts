import type { ReadingColumns } from '../src/domain/reading/columns.ts'
import type { Reading } from '../src/domain/reading/reading.ts'
import { nanosecondsPastMs, parseTimestamp } from '../src/domain/reading/timestamp.ts'

/**
 * The reading that is being folded. All readings use the same object, one after the other, because a new object for each
 * reading would slow down the fold. So nobody may keep a reference to this object.
 */
export class ArrivingReading {
  revision = 0
  position = 0
  /** In ms. */
  recordedAt = 0
  rack = ''
  keg = ''
  value = 0
  /**
   * The timestamp as the device sent it. `null` for a reading of a batch whose timestamp has the form
   * `YYYY-MM-DDThh:mm:ssZ`. `secondText` makes that text from `timestampMs`, which is slow.
   */
  timestamp: string | null = null
  /** The timestamp in ms since 1970, rounded down. */
  timestampMs = 0
  /** The nanoseconds of the timestamp that `timestampMs` does not include. */
  nanoseconds = 0

  /** Returns false if the timestamp is invalid. */
  takeReading({ rack, keg, value, timestamp }: Reading): boolean {
    const timestampMs = parseTimestamp(timestamp)
    if (typeof timestampMs === 'string') return false
    this.rack = rack
    this.keg = keg
    this.value = value
    this.timestamp = timestamp
    this.timestampMs = timestampMs
    this.nanoseconds = nanosecondsPastMs(timestamp)
    return true
  }

  takeFromColumns({ racks, kegs, values, timesMs, texts }: ReadingColumns, index: number): void {
    const timestamp = texts?.[index] ?? null
    this.rack = racks[index]?.text ?? ''
    this.keg = kegs[index]?.text ?? ''
    this.value = values[index] ?? 0
    this.timestamp = timestamp
    this.timestampMs = timesMs[index] ?? 0
    this.nanoseconds = timestamp === null ? 0 : nanosecondsPastMs(timestamp)
  }
}

import { type ReadingColumns, textToKeep } from '../../domain/reading/columns.ts'
import type { Reading } from '../../domain/reading/fields.ts'
import { NamedReading } from '../../domain/reading/named-reading.ts'
import { nanosecondsPastMs, parseTimestamp } from '../../domain/reading/parse-timestamp.ts'

/**
 * All readings use the same object, because one for each would slow down the fold. So nobody may keep a reference to it.
 */
export type Arriving = {
  keyId: string
  revision: number
  position: number
  recordedAt: number
  cellar: number
  rack: string
  keg: string
  value: number
  /** `null` for a text like `2026-03-01T12:00:00Z`, which can be made again from `timeMs`. */
  timestamp: string | null
  timeMs: number
  /** What `timeMs` does not include. */
  nanoseconds: number
}

export const takeColumns = (arriving: Arriving, columns: ReadingColumns, index: number): void => {
  const { racks, kegs, values, timesMs, texts } = columns
  arriving.rack = racks[index]?.text ?? ''
  arriving.keg = kegs[index]?.text ?? ''
  arriving.value = values[index] ?? 0
  takeTime(arriving, timesMs[index] ?? 0, texts?.[index] ?? null)
}

/** @throws Error for an invalid timestamp, which should have been refused before */
export const takeReading = (arriving: Arriving, reading: Reading): void => {
  arriving.rack = reading.rack
  arriving.keg = reading.keg
  arriving.value = reading.value
  if (reading instanceof NamedReading) {
    takeTime(arriving, reading.timeMs, reading.text)
    return
  }
  const { timestamp } = reading
  const timeMs = parseTimestamp(timestamp)
  if (typeof timeMs === 'string') throw new Error(`Cannot fold a reading: the timestamp "${timestamp}" is invalid`)
  takeTime(arriving, timeMs, textToKeep(timestamp))
}

const takeTime = (arriving: Arriving, timeMs: number, text: string | null): void => {
  arriving.timestamp = text
  arriving.timeMs = timeMs
  arriving.nanoseconds = text === null ? 0 : nanosecondsPastMs(text)
}

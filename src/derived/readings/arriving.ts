import { minuteMs } from '../../domain/calendar.ts'
import { type ReadingColumns, textToKeep } from '../../domain/reading/columns.ts'
import type { Reading } from '../../domain/reading/fields.ts'
import { NamedReading } from '../../domain/reading/named-reading.ts'
import { nanosecondsPastMs, parseTimestamp } from '../../domain/reading/parse-timestamp.ts'
import { instantOfRequestId } from '../../domain/search/request-id.ts'

/**
 * All readings use the same object, because one for each would slow down the fold. So nobody may keep a reference to it.
 */
export type Arriving = {
  keyId: string
  revision: number
  position: number
  recordedAt: number
  request: { readonly requestId: string }
  /** By the clock of the node that received the request. `null`: not read yet. */
  requestedAt: number | null
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

export const emptyArriving = (): Arriving => ({
  keyId: '',
  revision: 0,
  position: 0,
  recordedAt: 0,
  request: { requestId: '' },
  requestedAt: null,
  cellar: 0,
  rack: '',
  keg: '',
  value: 0,
  timestamp: null,
  timeMs: 0,
  nanoseconds: 0,
})

/** Nodes whose clocks are right differ by less. */
export const wrongClockMsMin = 10 * minuteMs

/**
 * After a wrong clock was set back, the times of a key's stream stand still until the clock has reached them. The id of the request has
 * the time of the clock. Its text takes as long as the rest of a reading, so it is read only if the keg's time leaps or stands still.
 */
export const acceptedAt = (arriving: Arriving, beforeMs: number): number => {
  const { recordedAt, request } = arriving
  if (recordedAt > beforeMs && recordedAt <= beforeMs + wrongClockMsMin) return recordedAt
  arriving.requestedAt ??= instantOfRequestId(request.requestId) ?? recordedAt
  return arriving.requestedAt < recordedAt - wrongClockMsMin ? arriving.requestedAt : recordedAt
}

export const takeRequest = (arriving: Arriving, request: Arriving['request']): void => {
  arriving.request = request
  arriving.requestedAt = null
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

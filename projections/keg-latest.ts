import { dayOf } from '../src/domain/calendar.ts'
import { nanosecondsPastMs } from '../src/domain/reading/timestamp.ts'
import type { PieceReader, PieceWriter } from './saved-pieces.ts'

/** The stream of the key that sent a reading. `number` is its place among all streams. */
export type Source = { readonly number: number; readonly stream: string; readonly keyId: string }

/** A keg's latest reading, or one that can become the latest when a purge removes later ones. Times are in ms. */
export type Latest = {
  readonly source: Source
  readonly timestamp: string
  readonly timestampMs: number
  readonly revision: number
  readonly position: number
  readonly recordedAt: number
  readonly value: number
  readonly repeatOf: number | null
}

/** What few kegs need. One field for all of it makes 100,000 kegs smaller. */
export type Rare = {
  /** For each point, the nanoseconds of its timestamp that the ms do not include. `null` if all are zero. */
  nanoseconds: Uint32Array | null
  /**
   * Readings that were accepted on later days than the latest reading, but have earlier timestamps. When a purge
   * removes the latest reading, one of these becomes the latest.
   */
  successors: readonly Latest[]
  /** The timestamp of the latest reading, as the device sent it, if it has another form. */
  timestamp: string
}

export const noSuccessors: readonly Latest[] = []

export const byAcceptance = (a: Latest, b: Latest): number => a.recordedAt - b.recordedAt || a.position - b.position

/**
 * True if `a` has the later timestamp, and no purge removes `a` before `b`. Then `b` can never be the latest reading.
 */
export const outlasts = (a: Latest, b: Latest): boolean => dayOf(a.recordedAt) >= dayOf(b.recordedAt) && isLater(a, b)

const isLater = (a: Latest, b: Latest): boolean => {
  if (a.timestampMs !== b.timestampMs) return a.timestampMs > b.timestampMs
  const difference = nanosecondsPastMs(a.timestamp) - nanosecondsPastMs(b.timestamp)
  return difference === 0 ? a.position > b.position : difference > 0
}

export const writeLatest = (to: PieceWriter, latest: Latest): void => {
  to.whole(latest.source.number)
  to.text(latest.timestamp)
  to.signed(latest.timestampMs)
  to.whole(latest.revision)
  to.whole(latest.position)
  to.whole(latest.recordedAt)
  to.float(latest.value)
  to.optional(latest.repeatOf, (dayAtMs) => to.whole(dayAtMs))
}

export const readLatest = (from: PieceReader, sources: readonly Source[]): Latest => {
  const number = from.whole()
  const source = sources[number]
  if (source === undefined) throw new RangeError(`a keg refers to stream ${number}, which does not exist`)
  return {
    source,
    timestamp: from.text(),
    timestampMs: from.signed(),
    revision: from.whole(),
    position: from.whole(),
    recordedAt: from.whole(),
    value: from.float(),
    repeatOf: from.optional(() => from.whole()),
  }
}

/** `secondText` can make a timestamp of the form `seconds` again, and `instantText` one of the form `milliseconds`. */
export const seconds = 0
export const milliseconds = 1
export const otherForm = 2

/** Only one valid form has 20 characters, and only one has 24 (`parseTimestamp`). */
export const formOf = ({ length }: string): number => {
  if (length === '2026-03-01T12:00:00Z'.length) return seconds
  return length === '2026-03-01T12:00:00.042Z'.length ? milliseconds : otherForm
}

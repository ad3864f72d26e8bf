/** The rows of `ask.db` and their checksums. Texts are numbers of `names`. */
import { checksumOf, seedOf } from '../../bytes/checksum.ts'

type Checksummed<Row> = Row & { readonly checksum: number }

export type NameRow = Checksummed<{ readonly id: number; readonly name: string }>

export type PlaceRow = Checksummed<{
  readonly position: number
  readonly recorded_at: number
  readonly kind: number
  readonly type: number
  readonly actor: number
  readonly key: number | null
  readonly cellar: number | null
  readonly stream: number
  readonly revision: number
  /** `idNumber` of the event's id. */
  readonly event_number: number
  /** `idNumber` of the request's id. `null` if it is `event_number`. */
  readonly request_number: number | null
  /** The period of a summary. */
  readonly first_at: number | null
  readonly last_at: number | null
}>
export const placeColumns =
  'position, recorded_at, kind, type, actor, key, cellar, stream, revision, event_number, request_number, first_at, last_at, checksum'

export type MinuteRow = Checksummed<{ readonly minute: number; readonly position: number }>

export type MinuteCountRow = Checksummed<{
  readonly cellar: number
  readonly minute: number
  readonly code: number
  readonly count: number
}>

export type HourCountRow = Checksummed<{
  readonly key: number
  readonly hour: number
  readonly code: number
  readonly cellar: number
  readonly count: number
}>

export type SeenRow = Checksummed<{ readonly key: number; readonly rack: string; readonly minute: number }>

type Columns<Row> = Omit<Row, 'checksum'>

export const nameChecksum = ({ id, name }: Columns<NameRow>): number => checksumOf(name, seedOf(bytesOf([id])))

export const placeChecksum = (row: Columns<PlaceRow>): number =>
  checksumOfNumbers([
    row.position,
    row.recorded_at,
    row.kind,
    row.type,
    row.actor,
    row.key ?? none,
    row.cellar ?? none,
    row.stream,
    row.revision,
    row.event_number,
    row.request_number ?? none,
    row.first_at ?? none,
    row.last_at ?? none,
  ])

export const minuteChecksum = (row: Columns<MinuteRow>): number => checksumOfNumbers([row.minute, row.position])

export const minuteCountChecksum = (row: Columns<MinuteCountRow>): number =>
  checksumOfNumbers([row.cellar, row.minute, row.code, row.count])

export const hourCountChecksum = (row: Columns<HourCountRow>): number =>
  checksumOfNumbers([row.key, row.hour, row.code, row.cellar, row.count])

export const seenChecksum = ({ key, rack, minute }: Columns<SeenRow>): number =>
  checksumOf(rack, seedOf(bytesOf([key, minute])))

/** Stands for `null` in a checksum. No column has this value. */
const none = -1

const checksumOfNumbers = (columns: readonly number[]): number => checksumOf(bytesOf(columns))

const numbers = new Float64Array(13)
const allBytes = new Uint8Array(numbers.buffer)

/** The bytes are overwritten by the next call. */
const bytesOf = (columns: readonly number[]): Uint8Array => {
  numbers.set(columns)
  return allBytes.subarray(0, columns.length * numbers.BYTES_PER_ELEMENT)
}

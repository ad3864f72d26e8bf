import { ByteReader } from '../../bytes/bytes.ts'
import { readText } from '../../bytes/packed-text.ts'
import {
  ColumnsBuilder,
  Name,
  type ReadingColumns,
  type ReadingOfBatch,
  textToKeep,
} from '../../domain/reading/columns.ts'
import type { Idempotency } from '../../domain/reading/idempotency-key.ts'
import type { NameCache } from '../../domain/reading/name-cache.ts'
import { NamedReading } from '../../domain/reading/named-reading.ts'
import { parseTimestamp } from '../../domain/reading/parse-timestamp.ts'
import { ReadingRun, RecordedRun, type RunRequest } from '../../domain/reading/recorded-run.ts'
import { uuidText } from '../../domain/uuid.ts'
import { flags, format, keyIdOf, type PackedRow, secondsOf, unpackIdempotency } from './packed-readings.ts'
import { ReadNames } from './read-names.ts'
import { assertInYears } from './timestamp-text.ts'

export type RowToUnpack = {
  readonly row: PackedRow
  readonly body: Uint8Array
  readonly first: number
}

/** Readings before index `first` are in no run. */
export type UnpackedRuns = { readonly runs: readonly RecordedRun[]; readonly first: number }

const ofFirst = flags.movedOn | flags.timestampIsText | flags.hasIdempotency
const ofFurther = flags.isOfBatch | flags.timestampIsText

/** Makes no object for each event, which would take several times as long. */
export class RunUnpacker {
  readonly #names: ReadNames
  readonly #columns = new ColumnsBuilder()
  /** One object for all readings. */
  readonly #point: Point = { rack: noName, keg: noName, value: 0, timeMs: 0, text: null }

  constructor(names: NameCache) {
    this.#names = new ReadNames(names)
  }

  /**
   * Runs have whole requests, so they can begin after `first`. `null`: a reading fits into no run, for example one with
   * metadata of its own. @throws RangeError for bytes that are not a packed row
   */
  unpack({ row, body, first }: RowToUnpack): UnpackedRuns | null {
    const reader = new ByteReader(body)
    if (reader.byte() !== format || reader.byte() !== 0) return null
    this.#names.beginRow()
    const runs: RecordedRun[] = []
    let requests: RunRequest[] = []
    let begin = first
    let { recordedAt } = row
    for (let index = 0; index < row.count; ) {
      const flagBits = reader.byte()
      if ((flagBits & ~ofFirst) !== 0) return null
      if ((flagBits & flags.movedOn) !== 0) {
        if (requests.length > 0) runs.push(recordedRun(row, { recordedAt, requests }, begin))
        requests = []
        begin = Math.max(begin, index)
        recordedAt += reader.signedVarint()
      }
      const id = reader.skip(16)
      const reading = this.#readReading(reader, flagBits, secondsOf(recordedAt))
      if (reading === null) return null
      const idempotency = unpackIdempotency(reader, flagBits)
      const isBatch = index + 1 < row.count && ((body[reader.at] ?? 0) & flags.isOfBatch) !== 0
      const readings = isBatch
        ? this.#readFurther(reader, { reading, seconds: secondsOf(recordedAt), countMax: row.count - index })
        : reading
      if (readings === null) return null
      const end = index + (readings instanceof NamedReading ? 1 : readings.count)
      if (index >= begin) requests.push(new StoredRequest({ body, id, readings, idempotency }))
      else if (end > begin) begin = end
      index = end
    }
    if (!reader.isAtEnd) return null
    if (requests.length > 0) runs.push(recordedRun(row, { recordedAt, requests }, begin))
    return { runs, first: runs[0] === undefined ? row.count : runs[0].revision - row.revision }
  }

  #readReading(reader: ByteReader, flagBits: number, seconds: number): NamedReading | null {
    const cellarName = this.#names.read(reader)
    return this.#readPoint(reader, flagBits, seconds) ? new NamedReading(cellarName, this.#point) : null
  }

  /** Of a batch that begins with `reading`. */
  #readFurther(reader: ByteReader, { reading, seconds, countMax }: Begun): ReadingColumns | null {
    const { cellarName } = reading
    const { bytes } = reader
    const columns = this.#columns
    columns.begin(cellarName)
    columns.push(this.#point)
    while (columns.count < countMax && ((bytes[reader.at] ?? 0) & flags.isOfBatch) !== 0) {
      const flagBits = reader.byte()
      if ((flagBits & ~ofFurther) !== 0 || this.#names.read(reader) !== cellarName) return null
      if (!this.#readPoint(reader, flagBits, seconds)) return null
      columns.push(this.#point)
    }
    return columns.finish()
  }

  /** All fields but the cellar. False: the timestamp is none. */
  #readPoint(reader: ByteReader, flagBits: number, seconds: number): boolean {
    const point = this.#point
    point.rack = this.#names.read(reader)
    point.keg = this.#names.read(reader)
    point.value = reader.float64()
    if ((flagBits & flags.timestampIsText) === 0) {
      const second = seconds + reader.signedVarint()
      assertInYears(second)
      point.timeMs = second * 1_000
      point.text = null
      return true
    }
    const text = readText(reader)
    const timeMs = parseTimestamp(text)
    if (typeof timeMs === 'string') return false
    point.timeMs = timeMs
    point.text = textToKeep(text)
    return true
  }
}

type Point = { -readonly [F in keyof ReadingOfBatch]: ReadingOfBatch[F] }

const noName = new Name('')

type Begun = { readonly reading: NamedReading; readonly seconds: number; readonly countMax: number }

type Stored = Pick<RunRequest, 'readings' | 'idempotency'> & {
  readonly body: Uint8Array
  /** The offset of the request's id in `body`. */
  readonly id: number
}

/** Few readers need the id, and its text takes as long as the rest of a single reading. */
class StoredRequest implements RunRequest {
  readonly readings: RunRequest['readings']
  readonly idempotency: Idempotency | null
  readonly #body: Uint8Array
  readonly #id: number

  constructor({ body, id, readings, idempotency }: Stored) {
    this.readings = readings
    this.idempotency = idempotency
    this.#body = body
    this.#id = id
  }

  get requestId(): string {
    return uuidText(this.#body, this.#id)
  }
}

type OfRun = { readonly recordedAt: number; readonly requests: readonly RunRequest[] }

const recordedRun = (row: PackedRow, { recordedAt, requests }: OfRun, index: number): RecordedRun => {
  const { stream, revision, position } = row
  const run = new ReadingRun(keyIdOf(stream) ?? '', recordedAt, requests)
  return new RecordedRun(run, { stream, revision: revision + index, position: position + index })
}

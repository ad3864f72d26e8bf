/**
 * Only this file uses `as` to give stored data a type, after the schema check
 * (docs/decisions/003-one-row-for-each-append.md).
 */
import { type TSchema, Type } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { declarationOf, eventTypes, Metadata, type NewEvent, type RecordedEvent } from '../../domain/events.ts'
import { type LogItem, ReadingRun } from '../../domain/reading/recorded-run.ts'
import { type ToAppend, UndecodableEvent } from '../event-log.ts'
import { recordedAtMax } from '../storable.ts'
import { type PackedRun, type Part, packReadings, packRun, unpackReadings } from './packed-readings.ts'
import { RowBuffers } from './row-buffers.ts'
import type { RunUnpacker, UnpackedRuns } from './unpack-runs.ts'
import { storedIdOf, storedTimeOf, unreadableRecord } from './unreadable.ts'

/**
 * Not in packed rows. A newer version is refused: a guess could decide wrongly (docs/protocol.md, "Versions and clocks").
 */
export const schemaVersion = 1

export type NewRow = {
  readonly count: number
  readonly recordedAt: number
  readonly body: string | Uint8Array
  readonly bytes: number
  /** `release` must be called: a later row will use the buffer of `body`. */
  readonly isInBuffer: boolean
}

export type StoredRow = {
  readonly stream: string
  readonly revision: number
  readonly position: number
  readonly count: number
  readonly recordedAt: number
  readonly body: string | Uint8Array
}

export type Codec = {
  /** Several rows if readings, which are packed, and other events are mixed. */
  encode(stream: string, events: ToAppend): readonly NewRow[]
  /** Exactly once, when nobody reads the bodies again. */
  release(rows: readonly NewRow[]): void
  /**
   * Unreadable events of records become `RecordUnreadable`. @throws UndecodableEvent if an event of another stream is
   * unreadable
   */
  decode(row: StoredRow, part?: Part): readonly RecordedEvent[]
  /** From index `first` on, as runs where readings fit. @throws UndecodableEvent like `decode` */
  decodeItems(row: StoredRow, first: number, runs: RunUnpacker): readonly LogItem[]
  /** For EventStoreDB. @throws UndecodableEvent like `decode` */
  decodeEvent(at: EventPlace, event: unknown): RecordedEvent
}

export type EventPlace = { readonly stream: string; readonly revision: number; readonly position: number }

const StoredEvent = Type.Object({
  id: Type.String(),
  type: Type.String(),
  schemaVersion: Type.Integer({ minimum: 1 }),
  recordedAt: Type.Integer({ minimum: 0, maximum: recordedAtMax }),
  data: Type.Unknown(),
  metadata: Metadata,
})

const storedEventCheck = TypeCompiler.Compile(StoredEvent)
const metadataCheck = TypeCompiler.Compile(Metadata)

type Checks = ReadonlyMap<string, TypeCheck<TSchema>>

export const createCodec = (): Codec => {
  const checks = new Map<string, TypeCheck<TSchema>>(
    eventTypes.map((type) => [type, TypeCompiler.Compile(declarationOf(type).data)]),
  )
  const buffers = new RowBuffers()
  const decode = (row: StoredRow, part: Part): readonly RecordedEvent[] => {
    try {
      return typeof row.body === 'string'
        ? decodeJson(checks, { row, body: row.body, part })
        : unpack({ row, body: row.body, part })
    } catch (cause) {
      return unreadableRow(cause, row, part)
    }
  }
  return {
    encode: (stream, events) =>
      events instanceof ReadingRun
        ? [rowOf(events, packRun(events, buffers))]
        : sameKinds(events).map((group) => encodeGroup(stream, group)),
    release: (rows) => {
      for (const { body, isInBuffer } of rows) if (isInBuffer && typeof body !== 'string') buffers.giveBack(body)
    },
    decode: (row, part = { first: 0, end: row.count }) => decode(row, part),
    decodeItems: (row, first, unpacker) => {
      const unpacked = runsOf(row, first, unpacker)
      if (unpacked === null) return decode(row, { first, end: row.count })
      if (unpacked.first === first) return unpacked.runs
      return [...decode(row, { first, end: unpacked.first }), ...unpacked.runs]
    },
    decodeEvent: (at, event) => decodeOne(checks, at, event),
  }
}

type SameKind = { readonly areReadings: boolean; readonly events: NewEvent[] }

const sameKinds = (events: readonly NewEvent[]): readonly SameKind[] => {
  const groups: SameKind[] = []
  for (const event of events) {
    const areReadings = isReading(event)
    const last = groups.at(-1)
    if (last?.areReadings === areReadings) last.events.push(event)
    else groups.push({ areReadings, events: [event] })
  }
  return groups
}

const rowOf = (
  { count, recordedAt }: Pick<NewRow, 'count' | 'recordedAt'>,
  { row, isInBuffer }: PackedRun,
): NewRow => ({
  count,
  recordedAt,
  body: row,
  bytes: row.length,
  isInBuffer,
})

const encodeGroup = (stream: string, { areReadings, events }: SameKind): NewRow => {
  const first = { count: events.length, recordedAt: events[0]?.recordedAt ?? 0 }
  if (areReadings) return rowOf(first, { row: packReadings(stream, events.filter(isReading)), isInBuffer: false })
  const stored = events.map(({ id, type, recordedAt, data, metadata }) => ({
    id,
    type,
    schemaVersion,
    recordedAt,
    data,
    metadata,
  }))
  const body = JSON.stringify(stored)
  return { ...first, body, bytes: Buffer.byteLength(body), isInBuffer: false }
}

const isReading = (event: NewEvent): event is NewEvent<'ReadingAccepted'> => event.type === 'ReadingAccepted'

type PartOf<Body> = { readonly row: StoredRow; readonly body: Body; readonly part: Part }

const decodeJson = (checks: Checks, { row, body, part }: PartOf<string>): readonly RecordedEvent[] => {
  const all = parseBody(row, body)
  const decoded: RecordedEvent[] = []
  for (let index = part.first; index < Math.min(part.end, all.length); index += 1) {
    const at = { stream: row.stream, revision: row.revision + index, position: row.position + index }
    decoded.push(decodeOne(checks, at, all[index]))
  }
  return decoded
}

const decodeOne = (checks: Checks, at: EventPlace, stored: unknown): RecordedEvent => {
  try {
    return decodeStored(checks, at, stored)
  } catch (cause) {
    return unreadableRecord(cause, { ...at, id: storedIdOf(stored), recordedAt: storedTimeOf(stored) })
  }
}

const unreadableRow = (cause: unknown, row: StoredRow, part: Part): readonly RecordedEvent[] => {
  const { stream, recordedAt } = row
  const events: RecordedEvent[] = []
  for (let index = part.first; index < Math.min(part.end, row.count); index += 1) {
    const at = { stream, revision: row.revision + index, position: row.position + index }
    events.push(unreadableRecord(cause, { ...at, id: '', recordedAt }))
  }
  if (events.length === 0) throw cause
  return events
}

const decodeStored = (checks: Checks, at: EventPlace, event: unknown): RecordedEvent => {
  if (!storedEventCheck.Check(event)) {
    throw new UndecodableEvent(at.stream, at.revision, typeOf(event), 'it does not have the form of a stored event')
  }
  const { id, type, recordedAt, metadata } = event
  const data = checkedData(checks, at, event)
  const { stream, revision, position } = at
  // `...event` would double the cost of a replay of the log.
  return { id, type, recordedAt, data, metadata, stream, revision, position } as RecordedEvent
}

const parseBody = (row: StoredRow, body: string): readonly unknown[] => {
  let stored: unknown
  try {
    stored = JSON.parse(body)
  } catch (cause) {
    throw new UndecodableEvent(row.stream, row.revision, unknownType, 'its row is not JSON', { cause })
  }
  if (Array.isArray(stored) && stored.length === row.count) return stored
  throw new UndecodableEvent(row.stream, row.revision, unknownType, `its row does not hold ${row.count} events`)
}

const unknownType = '(unknown)'

const typeOf = (event: unknown): string =>
  typeof event === 'object' && event !== null && 'type' in event && typeof event.type === 'string'
    ? event.type
    : unknownType

const checkedData = (
  checks: Checks,
  { stream, revision }: EventPlace,
  stored: { readonly type: string; readonly schemaVersion: number; readonly data: unknown },
): unknown => {
  const { type, data } = stored
  const check = checks.get(type)
  if (check === undefined) {
    throw new UndecodableEvent(stream, revision, type, 'this version does not know its type')
  }
  if (stored.schemaVersion > schemaVersion) {
    const why = `it has schema version ${stored.schemaVersion}, and this version knows up to ${schemaVersion}`
    throw new UndecodableEvent(stream, revision, type, why)
  }
  if (check.Check(data)) return data
  const fault = check.Errors(data).First()
  throw new UndecodableEvent(
    stream,
    revision,
    type,
    `data${fault?.path ?? ''}: ${fault?.message ?? 'does not match its schema'}`,
  )
}

/** `null`: `decode` must make events, or say what is wrong. */
const runsOf = (row: StoredRow, first: number, unpacker: RunUnpacker): UnpackedRuns | null => {
  const { body } = row
  if (typeof body === 'string') return null
  try {
    return unpacker.unpack({ row, body, first })
  } catch (cause) {
    if (cause instanceof RangeError) return null
    throw cause
  }
}

const unpack = (stored: PartOf<Uint8Array>): readonly RecordedEvent<'ReadingAccepted'>[] => {
  try {
    return unpackReadings(stored, parseMetadata)
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause
    const { stream, revision } = stored.row
    throw new UndecodableEvent(stream, revision, 'ReadingAccepted', `its row: ${cause.message}`, { cause })
  }
}

const parseMetadata = (json: string): Metadata => {
  let metadata: unknown
  try {
    metadata = JSON.parse(json)
  } catch (cause) {
    throw new RangeError('metadata in it is not JSON', { cause })
  }
  if (metadataCheck.Check(metadata)) return metadata
  throw new RangeError('metadata in it does not match the schema')
}

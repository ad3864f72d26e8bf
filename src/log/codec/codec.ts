/**
 * The embedded log stores readings as packed bytes, to save space. It stores all other events as JSON, which any SQLite
 * tool can show. Stored events keep their schema version, and are converted to the newest version when read. Only this
 * file uses `as` to give stored data a type, after the schema check.
 */
import { type TSchema, Type } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import {
  declarationOf,
  type EventType,
  eventTypes,
  Metadata,
  type NewEvent,
  type RecordedEvent,
  schemaVersion,
} from '../../domain/events.ts'
import { type LogItem, ReadingRun } from '../../domain/reading/recorded-run.ts'
import { type ToAppend, UndecodableEvent } from '../event-log.ts'
import { type PackedRun, type Part, packReadings, packRun, unpackReadings } from './packed-readings.ts'
import { RowBuffers } from './row-buffers.ts'
import { newestMetadata, storedMetadata } from './stored-idempotency.ts'
import type { RunUnpacker, UnpackedRuns } from './unpack-runs.ts'
import { storedIdOf, storedTimeOf, unreadableRecord } from './unreadable.ts'
import { type Upcast, upcasts } from './upcast.ts'

/** `createCodec` takes an `EventRegistry` as a parameter, so that a test can add schema versions. */
export type EventRegistry = ReadonlyMap<
  string,
  { readonly version: number; readonly data: TSchema; readonly upcasts: { readonly [fromVersion: number]: Upcast } }
>

export const currentRegistry: EventRegistry = new Map(
  eventTypes.map((type) => [
    type,
    { version: schemaVersion[type], data: declarationOf(type).data, upcasts: upcasts[type] ?? {} },
  ]),
)

/** One row of `count` events. The embedded log adds the stream, the revision and the position when it stores the row. */
export type NewRow = {
  readonly count: number
  readonly recordedAt: number
  readonly body: string | Uint8Array
  readonly bytes: number
  /** True if `release` must be called. Then `body` is in a buffer that a later row will use. */
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
  /** Returns one row, or several if readings and other events are mixed, because only readings are packed. */
  encode(stream: string, events: ToAppend): readonly NewRow[]
  /** Must be called exactly once, when nobody reads the bodies of the rows again. */
  release(rows: readonly NewRow[]): void
  /**
   * Decodes only those events of the row that `part` selects. Default: all events. In a stream of records, such as
   * sign-ins, an unreadable event becomes `RecordUnreadable`.
   * @throws UndecodableEvent if an event of another stream is unreadable
   */
  decode(row: StoredRow, part?: Part): readonly RecordedEvent[]
  /**
   * Decodes the events of the row from index `first` on. Readings come as runs, but for those that fit into none.
   * @throws UndecodableEvent like `decode`
   */
  decodeItems(row: StoredRow, first: number, runs: RunUnpacker): readonly LogItem[]
  /**
   * Decodes an event of EventStoreDB, which has no rows. In a stream of records, such as sign-ins, an unreadable event
   * becomes `RecordUnreadable`.
   * @throws UndecodableEvent if an event of another stream is unreadable
   */
  decodeEvent(at: EventPlace, event: unknown): RecordedEvent
  versionOf(type: EventType): number
}

export type EventPlace = { readonly stream: string; readonly revision: number; readonly position: number }

const StoredEvent = Type.Object({
  id: Type.String(),
  type: Type.String(),
  schemaVersion: Type.Integer({ minimum: 1 }),
  recordedAt: Type.Integer({ minimum: 0 }),
  data: Type.Unknown(),
  metadata: Metadata,
})

const storedEventCheck = TypeCompiler.Compile(StoredEvent)
const metadataCheck = TypeCompiler.Compile(Metadata)
/**
 * Packed rows store no schema version, because all their readings have this version. If `ReadingAccepted` gets a newer
 * version, packed readings are converted when they are read.
 */
const packedSchemaVersion = 1

export const createCodec = (registry: EventRegistry = currentRegistry): Codec => {
  const checks = new Map(Array.from(registry, ([type, known]) => [type, TypeCompiler.Compile(known.data)]))
  const buffers = new RowBuffers()
  const decode = (row: StoredRow, part: Part): readonly RecordedEvent[] => {
    try {
      return typeof row.body === 'string'
        ? decodeJson({ registry, checks }, { row, body: row.body, part })
        : decodePacked({ registry, checks }, { row, body: row.body, part })
    } catch (cause) {
      return unreadableRow(cause, row, part)
    }
  }
  return {
    encode: (stream, events) =>
      events instanceof ReadingRun
        ? [rowOf(events, packRun(events, buffers))]
        : sameKinds(events).map((group) => encodeGroup(registry, stream, group)),
    release: (rows) => {
      for (const { body, isInBuffer } of rows) if (isInBuffer && typeof body !== 'string') buffers.giveBack(body)
    },
    decode: (row, part = { first: 0, end: row.count }) => decode(row, part),
    decodeItems: (row, first, unpacker) => {
      const unpacked = arePackedNewest(registry) ? runsOf(row, first, unpacker) : null
      if (unpacked === null) return decode(row, { first, end: row.count })
      if (unpacked.first === first) return unpacked.runs
      return [...decode(row, { first, end: unpacked.first }), ...unpacked.runs]
    },
    decodeEvent: (at, event) => decodeOne({ registry, checks }, at, event),
    versionOf: (type) => versionOf(registry, type),
  }
}

const versionOf = (registry: EventRegistry, type: EventType): number =>
  registry.get(type)?.version ?? schemaVersion[type]

type SameKind = { readonly areReadings: boolean; readonly events: NewEvent[] }

/** Splits the events where readings and other events meet, because only readings are packed. */
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

const encodeGroup = (registry: EventRegistry, stream: string, { areReadings, events }: SameKind): NewRow => {
  const first = { count: events.length, recordedAt: events[0]?.recordedAt ?? 0 }
  if (areReadings) return rowOf(first, { row: packReadings(stream, events.filter(isReading)), isInBuffer: false })
  const stored = events.map(({ id, type, recordedAt, data, metadata }) => ({
    id,
    type,
    schemaVersion: versionOf(registry, type),
    recordedAt,
    data,
    metadata: storedMetadata(metadata),
  }))
  const body = JSON.stringify(stored)
  return { ...first, body, bytes: Buffer.byteLength(body), isInBuffer: false }
}

const isReading = (event: NewEvent): event is NewEvent<'ReadingAccepted'> => event.type === 'ReadingAccepted'

type Known = { readonly registry: EventRegistry; readonly checks: ReadonlyMap<string, TypeCheck<TSchema>> }

type PartOf<Body> = { readonly row: StoredRow; readonly body: Body; readonly part: Part }

const decodeJson = (known: Known, { row, body, part }: PartOf<string>): readonly RecordedEvent[] => {
  const all = parseBody(row, body)
  const decoded: RecordedEvent[] = []
  for (let index = part.first; index < Math.min(part.end, all.length); index += 1) {
    const at = { stream: row.stream, revision: row.revision + index, position: row.position + index }
    decoded.push(decodeOne(known, at, all[index]))
  }
  return decoded
}

const decodeOne = (known: Known, at: EventPlace, stored: unknown): RecordedEvent => {
  try {
    return decodeStored(known, at, stored)
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

const decodeStored = (known: Known, at: EventPlace, stored: unknown): RecordedEvent => {
  const event = withNewestMetadata(at, stored)
  if (!storedEventCheck.Check(event)) {
    throw new UndecodableEvent(at.stream, at.revision, typeOf(event), 'it does not have the form of a stored event')
  }
  const { id, type, recordedAt, metadata } = event
  const data = newestData(known, at, event)
  const { stream, revision, position } = at
  // Spreading `event` with `...` would double the cost of a replay of the log.
  return { id, type, recordedAt, data, metadata, stream, revision, position } as RecordedEvent
}

const withNewestMetadata = (at: EventPlace, event: unknown): unknown => {
  if (typeof event !== 'object' || event === null || !('metadata' in event)) return event
  try {
    const metadata = newestMetadata(event.metadata)
    return metadata === event.metadata ? event : { ...event, metadata }
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause
    throw new UndecodableEvent(at.stream, at.revision, typeOf(event), cause.message, { cause })
  }
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

const newestData = (
  { registry, checks }: Known,
  { stream, revision }: EventPlace,
  stored: { readonly type: string; readonly schemaVersion: number; readonly data: unknown },
): unknown => {
  const { type } = stored
  const known = registry.get(type)
  const check = checks.get(type)
  if (known === undefined || check === undefined) {
    throw new UndecodableEvent(stream, revision, type, 'this version does not know its type')
  }
  if (stored.schemaVersion > known.version) {
    const why = `it has schema version ${stored.schemaVersion}, and this version knows up to ${known.version}`
    throw new UndecodableEvent(stream, revision, type, why)
  }
  let { data } = stored
  for (let version = stored.schemaVersion; version < known.version; version++) {
    const upcast = known.upcasts[version]
    if (upcast === undefined) {
      throw new UndecodableEvent(stream, revision, type, `nothing upcasts its schema version ${version} to the next`)
    }
    data = upcast(data)
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

const decodePacked = (known: Known, stored: PartOf<Uint8Array>): readonly RecordedEvent[] => {
  const readings = unpack(stored)
  if (arePackedNewest(known.registry)) return readings
  return readings.map((reading) => ({
    ...reading,
    data: newestData(known, reading, { ...reading, schemaVersion: packedSchemaVersion }),
  })) as RecordedEvent[]
}

const arePackedNewest = (registry: EventRegistry): boolean =>
  registry.get('ReadingAccepted')?.version === packedSchemaVersion

/** Returns `null` if `decode` must make events of the row, or say what is wrong with it. */
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
  metadata = newestMetadata(metadata)
  if (metadataCheck.Check(metadata)) return metadata
  throw new RangeError('metadata in it does not match the schema')
}

import type { Metadata, NewEvent, RecordedEvent } from '../events.ts'
import { readingId } from '../uuid.ts'
import { countOf, isBatch, type Readings } from './columns.ts'
import type { Reading } from './fields.ts'
import type { Idempotency } from './idempotency-key.ts'
import { NamedReading } from './named-reading.ts'

/** A request with a single reading or a batch. `requestId` is also the id of its first reading. */
export type RunRequest = {
  readonly requestId: string
  readonly readings: Readings
  readonly idempotency: Idempotency | null
}

/**
 * Consecutive readings of one key that are appended together. On its way to the log and the projections, a run is one item.
 * An event object for each reading would cost more than all other work. A reader of the log gets events.
 */
export class ReadingRun {
  readonly keyId: string
  /** In ms, of all readings of the run. */
  readonly recordedAt: number
  readonly requests: readonly RunRequest[]
  readonly count: number

  constructor(keyId: string, recordedAt: number, requests: readonly RunRequest[]) {
    this.keyId = keyId
    this.recordedAt = recordedAt
    this.requests = requests
    let count = 0
    for (const { readings } of requests) count += countOf(readings)
    this.count = count
  }

  /** @throws Error if the ids of a request's later readings cannot be made from its id (`readingId`) */
  events(): readonly NewEvent<'ReadingAccepted'>[] {
    return this.requests.flatMap((request) => eventsOfRequest(this, request))
  }

  /** Lets later batches use the columns. Call it when the run is stored and folded. */
  giveBack(): void {
    for (const { readings } of this.requests) if (isBatch(readings)) readings.giveBack()
  }
}

const eventsOfRequest = (
  { keyId, recordedAt }: ReadingRun,
  { requestId, readings, idempotency }: RunRequest,
): NewEvent<'ReadingAccepted'>[] => {
  const by = { kind: 'key', keyId } as const
  const metadata: Metadata = { by, requestId, correlationId: requestId, causationId: requestId }
  const ofFirst = idempotency === null ? metadata : { ...metadata, idempotency }
  return Array.from({ length: countOf(readings) }, (_, index) => ({
    id: readingId(requestId, index),
    type: 'ReadingAccepted',
    recordedAt,
    data: dataAt(readings, index),
    metadata: index === 0 ? ofFirst : metadata,
  }))
}

const dataAt = (readings: Readings, index: number): Reading => {
  if (isBatch(readings)) return readings.readingAt(index)
  return readings instanceof NamedReading ? readings.plain() : readings
}

type RunPlace = {
  readonly stream: string
  /** The revision of the first reading. Those of the others follow without a gap. */
  readonly revision: number
  /** The position of the first reading. Those of the others follow without a gap. */
  readonly position: number
}

export class RecordedRun {
  readonly type = 'ReadingRun'
  readonly run: ReadingRun
  readonly stream: string
  readonly revision: number
  readonly position: number

  constructor(run: ReadingRun, at: RunPlace) {
    this.run = run
    this.stream = at.stream
    this.revision = at.revision
    this.position = at.position
  }

  get recordedAt(): number {
    return this.run.recordedAt
  }

  events(): readonly RecordedEvent<'ReadingAccepted'>[] {
    const { stream, revision, position } = this
    return this.run.events().map(({ id, type, recordedAt, data, metadata }, index) => {
      const place = { stream, revision: revision + index, position: position + index }
      return { id, type, recordedAt, data, metadata, ...place }
    })
  }
}

/** Readings of the embedded log come as runs, all else as events. */
export type LogItem = RecordedEvent | RecordedRun

export const isRun = (item: LogItem): item is RecordedRun => item.type === 'ReadingRun'

export const itemCount = (item: LogItem): number => (isRun(item) ? item.run.count : 1)

export const lastPositionOf = (item: LogItem): number => item.position + itemCount(item) - 1

export const eventsOfItems = (items: readonly LogItem[]): readonly RecordedEvent[] =>
  items.flatMap((item): readonly RecordedEvent[] => (isRun(item) ? item.events() : [item]))

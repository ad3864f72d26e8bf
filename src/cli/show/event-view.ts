import type { RecordedEvent } from '../../domain/events.ts'
import type { EventView } from './lines.ts'

/** Whoever reads the log must not find in it what could be tried offline: a hash is as good as a weak password. */
const secretFields: ReadonlySet<string> = new Set(['secretHash', 'passwordHash', 'linkHash', 'sessionHash'])

const redacted = '[redacted]'

export const eventView = (event: RecordedEvent): EventView => ({
  position: String(event.position),
  stream: event.stream,
  revision: event.revision,
  id: event.id,
  type: event.type,
  recordedAt: isoOf(event.recordedAt),
  data: event.type === 'ReadingAccepted' ? event.data : redactedData(event.data),
  metadata: event.metadata,
})

const redactedData = (data: object): object =>
  Object.fromEntries(Object.entries(data).map(([name, value]) => [name, secretFields.has(name) ? redacted : value]))

/** Ms as ISO 8601 with milliseconds. */
export const isoOf = (ms: number): string => new Date(ms).toISOString()

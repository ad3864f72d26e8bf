import { instantText } from '../domain/calendar.ts'
import type { RecordedEvent } from '../domain/events.ts'

/** An attacker could try passwords against the hashes in these fields unnoticed, so nobody is shown them. */
const secretFields: ReadonlySet<string> = new Set([
  'secretHash',
  'passwordHash',
  'linkHash',
  'sessionHash',
  'deviceHash',
])

const redacted = '[redacted]'

/**
 * An event as `log read --json` and exports show it. `position` is a string, because no program may calculate with it: each
 * log numbers its positions differently.
 */
export const eventView = (event: RecordedEvent) => ({
  position: String(event.position),
  stream: event.stream,
  revision: event.revision,
  id: event.id,
  type: event.type,
  recordedAt: instantText(event.recordedAt),
  data: redactedData(event),
  metadata: event.metadata,
})

export const redactedData = ({ type, data }: RecordedEvent): object =>
  type === 'ReadingAccepted'
    ? data
    : Object.fromEntries(Object.entries(data).map(([name, value]) => [name, secretFields.has(name) ? redacted : value]))

import { instantText } from '../domain/calendar.ts'
import { declarationOf, type RecordedEvent } from '../domain/events.ts'

const redacted = '[redacted]'

/** `position` is a string, because no program may calculate with it: each log numbers its positions differently. */
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

export const redactedData = ({ type, data }: RecordedEvent): object => {
  if (type === 'ReadingAccepted') return data
  const { properties } = declarationOf(type).data
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [name, properties[name]?.['role'] === 'hash' ? redacted : value]),
  )
}

import type { AuditEvent } from '../../projections/audit-trail.ts'
import { readFrom } from '../actors/stream/read-stream.ts'
import { narrowTo, type RecordedEvent } from '../domain/events.ts'
import { keyStream, readingsStream } from '../domain/stream-names.ts'
import { tailEventsMax } from '../limits.ts'
import type { EventLog } from '../log/event-log.ts'

type Reads = Pick<EventLog, 'read'>

/** Reads the key's own stream to its end, or to the page whose last event `isEnough`. */
export const readKeyEvents = async (
  log: Reads,
  keyId: string,
  isEnough: (last: RecordedEvent) => boolean = () => false,
): Promise<readonly AuditEvent[]> => {
  const events: AuditEvent[] = []
  await readFrom(log, { stream: keyStream(keyId), revision: 0, isEnough }, (page) =>
    events.push(...page.map((event) => narrowTo('key', event))),
  )
  return events
}

/** No reading comes after a seal. */
export const sealsOf = async (log: Reads, keyId: string): Promise<readonly AuditEvent[]> => {
  const last = await log.read(readingsStream(keyId), { direction: 'backwards', limit: tailEventsMax })
  return last.filter((event) => event.type === 'ReadingsSealed')
}

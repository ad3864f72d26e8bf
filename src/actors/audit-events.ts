import type { AuditEvent } from '../../projections/audit-trail.ts'
import type { RecordedEvent } from '../domain/events.ts'
import { keyStream, readingsStream } from '../domain/streams.ts'
import { readPageEventsMax } from '../limits.ts'
import type { EventLog } from '../log/event-log.ts'
import { firstRevisionAfter } from './first-revision-after.ts'
import { readFrom } from './read-stream.ts'

/**
 * What makes a key's history, without reading its readings: its own stream, the seal that ends the readings, and for each
 * change the fence that followed it. A fence that came more than a page of readings later (a node died between the two)
 * is left out; the change that it stands for is not.
 */
export const readAuditEvents = async (log: EventLog, keyId: string): Promise<readonly AuditEvent[]> => {
  const found = new Map<number, AuditEvent>()
  const keep = (events: readonly RecordedEvent[]): void => {
    for (const event of events) if (isAuditEvent(event)) found.set(event.position, event)
  }
  await readFrom(log, { stream: keyStream(keyId), revision: 0 }, keep)
  const stream = readingsStream(keyId)
  keep(await log.read(stream, { direction: 'backwards', limit: 1 }))
  for (const change of [...found.values()]) {
    if (!mayBeFenced(change)) continue
    const from = await firstRevisionAfter(log, stream, change.position)
    const after = await log.read(stream, { from, limit: readPageEventsMax })
    keep(after.filter((event) => event.type === 'ReadingsFenced').slice(0, 1))
  }
  return [...found.values()]
}

const mayBeFenced = ({ type }: AuditEvent): boolean =>
  type === 'KeySuspended' || type === 'KeyExpirySet' || type === 'KeyLimitChanged'

const auditTypes: ReadonlySet<string> = new Set<AuditEvent['type']>([
  'KeyCreated',
  'KeyRelabelled',
  'KeyLimitChanged',
  'KeyExpirySet',
  'KeySuspended',
  'KeyResumed',
  'KeyExpired',
  'KeyRevoked',
  'ReadingsSealed',
  'ReadingsFenced',
])

const isAuditEvent = (event: RecordedEvent): event is AuditEvent => auditTypes.has(event.type)

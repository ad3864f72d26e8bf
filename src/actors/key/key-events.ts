import type { AuditEvent } from '../../../projections/audit-trail.ts'
import type { RecordedEvent } from '../../domain/events.ts'
import { keyStream } from '../../domain/stream-names.ts'
import type { Core } from '../core.ts'
import { narrowTo } from '../stream/narrow-event.ts'
import { readFrom } from '../stream/read-stream.ts'

export const keyEvent = narrowTo(
  'KeyCreated',
  'KeyRelabelled',
  'KeyLimitChanged',
  'KeyExpirySet',
  'KeyRotated',
  'KeySuperseded',
  'KeySuspended',
  'KeyResumed',
  'KeyExpired',
  'KeyRevoked',
)

/**
 * Returns the events of the key's own stream, the newest `barriersPerKeyMax` seals and fences of its readings
 * (docs/protocol.md), and the last purge. Older fences add nothing to the key's history. Events of the key's own stream are read up to the end,
 * or up to the page whose last event `isEnough`.
 */
export const readKeyEvents = async (
  { log, projections }: Pick<Core, 'log' | 'projections'>,
  keyId: string,
  isEnough: (last: RecordedEvent) => boolean = () => false,
): Promise<readonly AuditEvent[]> => {
  const events: AuditEvent[] = []
  await readFrom(log, { stream: keyStream(keyId), revision: 0, isEnough }, (page) => events.push(...page.map(keyEvent)))
  const purged = projections.readings.purged(keyId)
  return [...events, ...projections.readings.barriers(keyId), ...(purged === null ? [] : [purged.last])]
}

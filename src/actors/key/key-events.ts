import type { AuditEvent } from '../../../projections/audit-trail.ts'
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
 * All that makes a key's history: its own stream, whole, from the log; and the seal and the fences among its readings, of
 * which there may be millions, so these are what was kept of them when this node heard of them: the last `barriersPerKeyMax`.
 * A fence that is older than so many says nothing that the key's own events do not. Of what was purged, the last: a day
 * with retention has one.
 */
export const readKeyEvents = async (
  { log, projections }: Pick<Core, 'log' | 'projections'>,
  keyId: string,
): Promise<readonly AuditEvent[]> => {
  const events: AuditEvent[] = []
  await readFrom(log, { stream: keyStream(keyId), revision: 0 }, (page) => events.push(...page.map(keyEvent)))
  const purged = projections.readings.purged(keyId)
  return [...events, ...projections.readings.barriers(keyId), ...(purged === null ? [] : [purged.last])]
}

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

type KeyEventsWanted = {
  readonly isEnough?: (last: RecordedEvent) => boolean
  /** A page calls it between short reads, because a key can have thousands of changes. */
  readonly pause?: () => Promise<void>
}

/**
 * Returns the events of the key's own stream, the newest `barriersPerKeyMax` seals and fences of its readings
 * (docs/protocol.md), and the last purge. Older fences add nothing to the key's history. Events of the key's own stream are read up to the end,
 * or up to the page whose last event `isEnough`.
 */
export const readKeyEvents = async (
  { log, projections }: Pick<Core, 'log' | 'projections'>,
  keyId: string,
  { isEnough = () => false, pause }: KeyEventsWanted = {},
): Promise<readonly AuditEvent[]> => {
  const events: AuditEvent[] = []
  const from = { stream: keyStream(keyId), revision: 0, isEnough, pause }
  await readFrom(log, from, (page) => events.push(...page.map(keyEvent)))
  const purged = projections.readings.purged(keyId)
  return [...events, ...projections.readings.barriers(keyId), ...(purged === null ? [] : [purged.last])]
}

import type { AuditEvent } from '../../../projections/audit-trail.ts'
import type { RecordedEvent } from '../../domain/events.ts'
import { keyStream, readingsStream } from '../../domain/streams.ts'
import { fenceSearchEventsMax, readPageEventsMax } from '../../limits.ts'
import type { EventLog } from '../../log/event-log.ts'

/**
 * All that makes a key's history, from the log itself: its own stream, and the seal and the fences in its readings' stream.
 * A seal is the last event there. A fence lies soon after the event that it stands for, so it is looked for from there, and
 * the readings, of which there may be millions, are not read.
 */
export const readKeyEvents = async (log: EventLog, keyId: string): Promise<readonly AuditEvent[]> => {
  const events: AuditEvent[] = []
  await readWhole(log, keyStream(keyId), (event) => events.push(asAuditEvent(event)))
  const readings = readingsStream(keyId)
  const [last] = await log.read(readings, { direction: 'backwards', limit: 1 })
  if (last === undefined) return events

  const found = new Map<number, AuditEvent>()
  if (last.type === 'ReadingsSealed') found.set(last.revision, last)
  for (const event of events) {
    const fence = canFence(event) ? await fenceAfter(log, last, event) : null
    if (fence !== null) found.set(fence.revision, fence)
  }
  return [...events, ...found.values()]
}

const readWhole = async (log: EventLog, stream: string, onEvent: (event: RecordedEvent) => void): Promise<void> => {
  for (let from = 0; ; ) {
    const page = await log.read(stream, { from, limit: readPageEventsMax })
    for (const event of page) onEvent(event)
    const last = page.at(-1)
    if (last === undefined || page.length < readPageEventsMax) return
    from = last.revision + 1
  }
}

/** What can take a right away (protocol, "Taking a right away"). */
const canFence = ({ type }: AuditEvent): boolean =>
  type === 'KeySuspended' || type === 'KeyExpirySet' || type === 'KeyLimitChanged'

const fenceAfter = async (
  log: EventLog,
  last: RecordedEvent,
  event: AuditEvent,
): Promise<RecordedEvent<'ReadingsFenced'> | null> => {
  const start = await firstRevisionAfter(log, last, event.position)
  for (let from = start; from < start + fenceSearchEventsMax && from <= last.revision; from += readPageEventsMax) {
    const page = await log.read(last.stream, { from, limit: readPageEventsMax })
    const fence = page.find((candidate) => candidate.type === 'ReadingsFenced')
    if (fence?.type === 'ReadingsFenced') return fence.data.keyRevision >= event.revision ? fence : null
  }
  return null
}

/** Positions grow with revisions, so a search by halves finds the place. */
const firstRevisionAfter = async (log: EventLog, last: RecordedEvent, position: number): Promise<number> => {
  let low = 0
  let high = last.revision + 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const [event] = await log.read(last.stream, { from: middle, limit: 1 })
    if (event === undefined || event.position > position) high = middle
    else low = middle + 1
  }
  return low
}

const asAuditEvent = (event: RecordedEvent): AuditEvent => {
  switch (event.type) {
    case 'KeyCreated':
    case 'KeyRelabelled':
    case 'KeyLimitChanged':
    case 'KeyExpirySet':
    case 'KeySuspended':
    case 'KeyResumed':
    case 'KeyExpired':
    case 'KeyRevoked':
      return event
    default:
      throw new Error(`Cannot show ${event.type} at revision ${event.revision} of "${event.stream}": not of a key`)
  }
}

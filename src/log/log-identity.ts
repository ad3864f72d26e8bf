import type { Clock } from '../clock.ts'
import type { NewEvent, RecordedEvent } from '../domain/events.ts'
import { logStream } from '../domain/streams.ts'
import type { Entropy } from '../entropy.ts'
import type { EventLog } from './event-log.ts'

/** The log's own id. A log that has none gets it now, as its first event; of two that try at once, one names it. */
export const ensureLogCreated = async (log: EventLog, clock: Clock, entropy: Entropy): Promise<string> => {
  const known = await readLogId(log)
  if (known !== null) return known

  const created = logCreated(clock, entropy)
  const result = await log.append(logStream, 'none', [created])
  if (result.outcome !== 'conflict') return created.data.logId
  const named = await readLogId(log)
  if (named === null) throw new Error(`Cannot name the log: "${logStream}" has a revision and no event`)
  return named
}

const readLogId = async (log: EventLog): Promise<string | null> => {
  const [first] = await log.read(logStream, { limit: 1 })
  if (first === undefined) return null
  if (isLogCreated(first)) return first.data.logId
  throw new Error(`Cannot name the log: the first event of "${logStream}" is ${first.type}`)
}

const isLogCreated = (event: RecordedEvent): event is RecordedEvent<'LogCreated'> => event.type === 'LogCreated'

const logCreated = (clock: Clock, entropy: Entropy): NewEvent<'LogCreated'> => {
  const requestId = entropy.uuid()
  return {
    id: entropy.uuid(),
    type: 'LogCreated',
    recordedAt: clock.now(),
    data: { logId: entropy.uuid() },
    metadata: { by: { kind: 'system' }, requestId, correlationId: requestId, causationId: requestId },
  }
}

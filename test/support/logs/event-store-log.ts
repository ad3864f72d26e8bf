import { parseEventStore } from '../../../src/eventstore-url.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import { openEventStoreLog } from '../../../src/log/eventstoredb/eventstoredb-log.ts'

/** No real server's log is ever emptied, so whoever opens one has a prefix of its own. */
export const freshPrefix = (): string => `test${crypto.randomUUID().slice(0, 8)}-`

export const openAt = (url: string, prefix = freshPrefix()): Promise<EventLog> => {
  const parsed = parseEventStore(url, prefix)
  if ('fault' in parsed) throw new Error(parsed.fault)
  return openEventStoreLog({ settings: parsed.value })
}

/** Settles once the log says that it is well, or that it is not. */
export const untilHealth = async (log: EventLog, ok: boolean): Promise<void> => {
  while (log.health().ok !== ok) await new Promise((resolve) => setTimeout(resolve, 5))
}

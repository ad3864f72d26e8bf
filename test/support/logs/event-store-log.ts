import { parseEventStoreUrl } from '../../../src/eventstore-url.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import { openEventStoreLog } from '../../../src/log/eventstoredb/eventstoredb-log.ts'

/** A new prefix for each log, because a real server keeps the events of earlier runs. */
export const freshPrefix = (): string => `test${crypto.randomUUID().slice(0, 8)}-`

export const openAt = (url: string, prefix = freshPrefix()): Promise<EventLog> => {
  const parsed = parseEventStoreUrl(url)
  if ('rule' in parsed) throw new Error(parsed.rule)
  return openEventStoreLog({ settings: { ...parsed.value, prefix } })
}

export const untilHealth = async (log: EventLog, ok: boolean): Promise<void> => {
  while (log.health().ok !== ok) await new Promise((resolve) => setTimeout(resolve, 5))
}

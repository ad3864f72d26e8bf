import type { RecordedEvent } from './events.ts'

/**
 * The id of the log whose own stream holds these events, all of them; `null` if it was never named. A copy has one of its
 * own, since its positions are other ones than its source's.
 */
export const logIdOf = (events: readonly RecordedEvent[]): string | null => {
  let id: string | null = null
  for (const event of events) {
    if (event.type === 'LogCreated') id = event.data.logId
    if (event.type === 'LogCopyBegun') id = event.data.copyId
  }
  return id
}

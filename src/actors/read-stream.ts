import type { RecordedEvent } from '../domain/events.ts'
import { readPageEventsMax } from '../limits.ts'
import type { EventLog } from '../log/event-log.ts'

/** Hands on every event of the stream from that revision, page by page. */
export const readFrom = async (
  log: EventLog,
  from: { readonly stream: string; readonly revision: number },
  onEvents: (events: readonly RecordedEvent[]) => void,
): Promise<void> => {
  let next = from.revision
  while (true) {
    const page = await log.read(from.stream, { from: next, limit: readPageEventsMax })
    onEvents(page)
    const last = page.at(-1)
    if (last === undefined || page.length < readPageEventsMax) return
    next = last.revision + 1
  }
}

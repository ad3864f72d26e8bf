import type { RecordedEvent } from '../../domain/events.ts'
import { readPageEventsMax } from '../../limits.ts'
import type { EventLog } from '../../log/event-log.ts'

/**
 * Reads page by page to the end, or to the page whose last event `isEnough`. False if it stops after `pagesMax` pages and
 * more events can follow.
 */
export const readFrom = async (
  log: Pick<EventLog, 'read'>,
  from: {
    readonly stream: string
    readonly revision: number
    readonly pagesMax?: number
    readonly isEnough?: (last: RecordedEvent) => boolean
  },
  onEvents: (events: readonly RecordedEvent[]) => void,
): Promise<boolean> => {
  const { isEnough = () => false } = from
  const limit = readPageEventsMax
  let next = from.revision
  for (let pages = 0; pages !== from.pagesMax; pages += 1) {
    const page = await log.read(from.stream, { from: next, limit })
    onEvents(page)
    const last = page.at(-1)
    if (last === undefined || page.length < limit || isEnough(last)) return true
    next = last.revision + 1
  }
  return false
}

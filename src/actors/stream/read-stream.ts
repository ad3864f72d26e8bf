import type { RecordedEvent } from '../../domain/events.ts'
import { logReadPageEvents, readPageEventsMax } from '../../limits.ts'
import type { EventLog } from '../../log/event-log.ts'

/**
 * Reads the stream from `revision` on, page by page, to its end or to the page whose last event `isEnough`. Returns false if it
 * stops after `pagesMax` pages and more events can follow. With `pause`, pages are short, and other work runs between them.
 */
export const readFrom = async (
  log: EventLog,
  from: {
    readonly stream: string
    readonly revision: number
    readonly pagesMax?: number
    readonly isEnough?: (last: RecordedEvent) => boolean
    readonly pause?: (() => Promise<void>) | undefined
  },
  onEvents: (events: readonly RecordedEvent[]) => void,
): Promise<boolean> => {
  const { isEnough = () => false, pause } = from
  const limit = pause === undefined ? readPageEventsMax : logReadPageEvents
  let next = from.revision
  for (let pages = 0; pages !== from.pagesMax; pages += 1) {
    const page = await log.read(from.stream, { from: next, limit })
    onEvents(page)
    const last = page.at(-1)
    if (last === undefined || page.length < limit || isEnough(last)) return true
    await pause?.()
    next = last.revision + 1
  }
  return false
}

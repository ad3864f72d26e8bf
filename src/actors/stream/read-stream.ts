import type { RecordedEvent } from '../../domain/events.ts'
import { readPageEventsMax } from '../../limits.ts'
import { DamagedLog, type EventLog } from '../../log/event-log.ts'

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

/** Reads newest first, page by page, to the beginning, or to a page that `isEnough`. */
export const readBack = async (
  log: Pick<EventLog, 'read'>,
  stream: string,
  isEnough: (page: readonly RecordedEvent[]) => boolean,
): Promise<void> => {
  for (let from: number | undefined; ; ) {
    const options = { direction: 'backwards', limit: readPageEventsMax, ...(from !== undefined && { from }) } as const
    const page = await log.read(stream, options)
    const oldest = page.at(-1)
    if (isEnough(page) || oldest === undefined || page.length < readPageEventsMax) return
    from = oldest.revision - 1
  }
}

/** For records that decide nothing. */
export const emptyIfDamaged = (error: unknown): readonly RecordedEvent[] => {
  if (error instanceof DamagedLog) return []
  throw error
}

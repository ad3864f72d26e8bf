import type { RecordedEvent } from '../domain/events.ts'
import type { EventLog } from './event-log.ts'

export type Paging = {
  /** Position, exclusive. `null` starts at the beginning of the log. */
  readonly after: number | null
  /** Events per page, 1 to `readPageEventsMax`. */
  readonly limit: number
}

/** Yields pages in the order of positions. No page is empty. */
export async function* pagesOfLog(log: EventLog, { after, limit }: Paging): AsyncGenerator<readonly RecordedEvent[]> {
  let from = after
  while (true) {
    const page = await log.readAll({ ...(from === null ? {} : { from }), limit })
    const last = page.at(-1)
    if (last === undefined) return
    yield page
    from = last.position
  }
}

/** Lets sockets and timers run. A long loop must call this, because `await` on settled promises keeps them waiting. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

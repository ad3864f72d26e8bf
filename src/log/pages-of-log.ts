import type { RecordedEvent } from '../domain/events.ts'
import type { EventLog } from './event-log.ts'

export type Paging = {
  /** Exclusive. `null`: from the beginning. */
  readonly after: number | null
  /** Events, 1 to `readPageEventsMax`. */
  readonly limit: number
}

/** In position order. No page is empty. */
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

/** A long loop whose `await`s are answered at once needs it: otherwise no socket and no timer runs. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

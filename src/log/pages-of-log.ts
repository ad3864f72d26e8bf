import type { RecordedEvent } from '../domain/events.ts'
import type { EventLog } from './event-log.ts'

export type Paging = {
  /** A position. `null`: the beginning of the log. */
  readonly after: number | null
  /** Events of a page: 1 to `readPageEventsMax`. */
  readonly limit: number
}

/** Up to the end of the log. No page is empty. */
export async function* pagesOfLog(
  log: Pick<EventLog, 'readAll'>,
  { after, limit }: Paging,
): AsyncGenerator<readonly RecordedEvent[]> {
  let from = after
  while (true) {
    const page = await log.readAll({ ...(from === null ? {} : { from }), limit })
    const last = page.at(-1)
    if (last === undefined) return
    yield page
    from = last.position
  }
}

/** A long loop must call this: an `await` on a settled promise lets no socket or timer run, so requests would wait. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

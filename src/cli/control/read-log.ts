import type { RecordedEvent } from '../../domain/events.ts'
import { logReadPageEvents } from '../../limits.ts'
import type { EventLog } from '../../log/event-log.ts'
import { nextTurn, pagesOfLog } from '../../log/pages-of-log.ts'
import { firstRevisionAfter } from './first-revision-after.ts'

export type LogFilter = {
  readonly stream: string | null
  readonly type: string | null
  /** Exclusive: only what comes after this position. */
  readonly from: number | null
}

/**
 * What lay in the log when the reading began, a page at a time, so that memory stays the same for any log. What is
 * appended meanwhile is left out: a busy log would otherwise have no end.
 */
export async function* readLog(log: EventLog, filter: LogFilter): AsyncGenerator<RecordedEvent> {
  const [last] = await log.readAll({ direction: 'backwards', limit: 1 })
  if (last === undefined) return
  const pages =
    filter.stream === null
      ? pagesOfLog(log, { after: filter.from, limit: logReadPageEvents })
      : pagesOfStream(log, filter.stream, filter.from)
  for await (const page of pages) {
    for (const event of page) {
      if (event.position > last.position) return
      if (filter.type === null || event.type === filter.type) yield event
    }
    // A page may hold nothing that was asked for; the readings that wait for the event loop go first all the same.
    await nextTurn()
  }
}

async function* pagesOfStream(
  log: EventLog,
  stream: string,
  after: number | null,
): AsyncGenerator<readonly RecordedEvent[]> {
  let from = after === null ? undefined : await firstRevisionAfter(log, stream, after)
  while (true) {
    const page = await log.read(stream, { ...(from === undefined ? {} : { from }), limit: logReadPageEvents })
    const last = page.at(-1)
    if (last === undefined) return
    yield page
    from = last.revision + 1
  }
}

import type { RecordedEvent } from '../../domain/events.ts'
import { logReadPageEvents } from '../../limits.ts'
import type { EventLog } from '../../log/event-log.ts'
import { nextTurn, pagesOfLog } from '../../log/pages-of-log.ts'
import { type EventView, isoOf } from '../show/lines.ts'

export type LogFilter = {
  readonly stream: string | null
  readonly type: string | null
  /** Only events after this position in the log are read. */
  readonly from: number | null
}

/** Stops at the event that was the last one when reading began. Otherwise, reading a busy log would never end. */
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
    // Pauses, so that a running service can answer waiting readings before the next page.
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

/** Returns the revision of the first event after `position`. If there is no such event, returns the last revision + 1. */
const firstRevisionAfter = async (log: EventLog, stream: string, position: number): Promise<number> => {
  const [first] = await log.read(stream, { limit: 1 })
  const [last] = await log.read(stream, { direction: 'backwards', limit: 1 })
  if (first === undefined || last === undefined) return 0
  let low = first.revision
  let high = last.revision + 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const [event] = await log.read(stream, { from: middle, limit: 1 })
    if (event === undefined || event.position > position) high = middle
    else low = middle + 1
  }
  return low
}

/**
 * `log read` does not print the hashes in these fields, because an attacker could try passwords against the hashes unnoticed.
 */
const secretFields: ReadonlySet<string> = new Set(['secretHash', 'passwordHash', 'linkHash', 'sessionHash'])

const redacted = '[redacted]'

export const eventView = (event: RecordedEvent): EventView => ({
  position: String(event.position),
  stream: event.stream,
  revision: event.revision,
  id: event.id,
  type: event.type,
  recordedAt: isoOf(event.recordedAt),
  data: event.type === 'ReadingAccepted' ? event.data : redactedData(event.data),
  metadata: event.metadata,
})

const redactedData = (data: object): object =>
  Object.fromEntries(Object.entries(data).map(([name, value]) => [name, secretFields.has(name) ? redacted : value]))

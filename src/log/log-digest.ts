import type { RecordedEvent } from '../domain/events.ts'
import { logStream } from '../domain/stream-names.ts'
import { readPageEventsMax } from '../limits.ts'
import type { EventLog } from './event-log.ts'
import { pagesOfLog } from './pages-of-log.ts'

export type LogDigest = {
  /** SHA-256 as 64 hex digits. Equal in SQLite and in EventStoreDB for equal events. */
  readonly digest: string
  readonly events: number
  /** By the stream's name, so that an error can name a stream that differs. */
  readonly streams: ReadonlyMap<string, string>
}

/**
 * Covers id, revision, type, time, data and metadata of each event, and the order of all events except readings. A correct
 * copy can differ in positions, the order between streams of readings, and the stream `cellarbook-log`.
 */
export const digestLog = async (
  log: Pick<EventLog, 'readAll'>,
  onProgress: (seen: { readonly events: number; readonly share: number }) => void,
): Promise<LogDigest> => {
  const [end] = await log.readAll({ direction: 'backwards', limit: 1 })
  const streams = new Map<string, string>()
  let barriers = ''
  let events = 0
  for await (const page of pagesOfLog(log, { after: null, limit: readPageEventsMax })) {
    for (const event of page) {
      if (event.stream === logStream) continue
      const text = canonicalText(event)
      streams.set(event.stream, chained(streams.get(event.stream) ?? '', text))
      if (event.type !== 'ReadingAccepted') barriers = chained(barriers, text)
      events += 1
    }
    const at = page.at(-1)?.position ?? 0
    onProgress({ events, share: end === undefined || end.position === 0 ? 1 : Math.min(1, at / end.position) })
  }
  const sorted = [...streams].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return { digest: chained(barriers, JSON.stringify(sorted)), events, streams: new Map(sorted) }
}

const chained = (before: string, text: string): string =>
  new Bun.CryptoHasher('sha256').update(before).update(text).digest('hex')

const canonicalText = ({ stream, revision, id, type, recordedAt, data, metadata }: RecordedEvent): string =>
  JSON.stringify([stream, revision, id, type, recordedAt, data, metadata], canonical)

/**
 * SQLite and EventStoreDB return properties in different orders. -0 becomes a text, because JSON would write 0 and hide the
 * difference.
 */
const canonical = (_: string, value: unknown): unknown => {
  if (Object.is(value, -0)) return '-0'
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

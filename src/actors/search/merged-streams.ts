import type { RecordedEvent } from '../../domain/events.ts'
import type { LogFilter } from '../../domain/search/event-filter.ts'
import { isRecordStream } from '../../domain/stream-names.ts'
import { readPageEventsMax } from '../../limits.ts'
import { firstRevision } from './first-revision.ts'
import type { LogReads } from './patient-reads.ts'
import { atOnce, type SearchPage } from './search-page.ts'

type Parts = { readonly filter: Pick<LogFilter, 'since' | 'until'>; readonly page: SearchPage }

export async function* mergedStreams(
  log: LogReads,
  streams: readonly string[],
  parts: Parts,
): AsyncGenerator<readonly RecordedEvent[], void, undefined> {
  const { direction } = parts.page
  const readers = await Promise.all(streams.map((stream) => StreamReader.open(log, stream, parts)))
  for (let events: RecordedEvent[] = []; ; events = []) {
    while (events.length < atOnce(parts.page)) {
      const next = firstInLog(readers, direction)
      if (next?.event === undefined) break
      events.push(next.event)
      if (next.advance()) await next.readOn()
    }
    if (events.length === 0) return
    yield events
  }
}

const firstInLog = (readers: readonly StreamReader[], direction: SearchPage['direction']): StreamReader | null => {
  let first: StreamReader | null = null
  for (const reader of readers) {
    if (reader.event === undefined) continue
    const order = reader.event.position - (first?.event?.position ?? reader.event.position)
    if (first === null || (direction === 'forwards' ? order < 0 : order > 0)) first = reader
  }
  return first
}

class StreamReader {
  readonly #log: LogReads
  readonly #stream: string
  readonly #parts: Parts
  /** Times can decrease in a stream of records, so such a stream is read whole. */
  readonly #times: Parts['filter']
  #events: readonly RecordedEvent[] = []
  #index = 0
  /** Each read is twice as long as the one before: often few events of a stream are wanted. */
  #limit: number

  private constructor(log: LogReads, stream: string, parts: Parts) {
    this.#log = log
    this.#stream = stream
    this.#parts = parts
    this.#times = isRecordStream(stream) ? { since: null, until: null } : parts.filter
    this.#limit = atOnce(parts.page)
  }

  static async open(log: LogReads, stream: string, parts: Parts): Promise<StreamReader> {
    const reader = new StreamReader(log, stream, parts)
    await reader.#read(await reader.#begin())
    return reader
  }

  get event(): RecordedEvent | undefined {
    const event = this.#events[this.#index]
    return event === undefined || this.#isPast(event) ? undefined : event
  }

  /** True: `readOn` must be called. */
  advance(): boolean {
    this.#index += 1
    return this.#index === this.#events.length
  }

  async readOn(): Promise<void> {
    const last = this.#events.at(-1)
    if (last !== undefined) await this.#read(last.revision + (this.#isForwards ? 1 : -1))
  }

  get #isForwards(): boolean {
    return this.#parts.page.direction === 'forwards'
  }

  /** Positions and times grow with revisions, so a binary search finds the beginning. The newest events need no search. */
  async #begin(): Promise<number> {
    const { from } = this.#parts.page
    const { since, until } = this.#times
    if (this.#isForwards) {
      if (from === null && since === null) return 0
      return firstRevision(
        this.#log,
        this.#stream,
        ({ position, recordedAt }) => position > (from ?? -1) && recordedAt >= (since ?? recordedAt),
      )
    }
    const isBehind = ({ position, recordedAt }: RecordedEvent): boolean =>
      (from !== null && position >= from) || (until !== null && recordedAt >= until)
    const [newest] = await this.#log.read(this.#stream, { direction: 'backwards', limit: 1 })
    if (newest === undefined || !isBehind(newest)) return newest?.revision ?? -1
    return (await firstRevision(this.#log, this.#stream, isBehind)) - 1
  }

  #isPast({ position, recordedAt }: RecordedEvent): boolean {
    const { to = null } = this.#parts.page
    const { since, until } = this.#times
    return this.#isForwards
      ? (to !== null && position > to) || (until !== null && recordedAt >= until)
      : (to !== null && position <= to) || (since !== null && recordedAt < since)
  }

  async #read(from: number): Promise<void> {
    const { direction } = this.#parts.page
    this.#events = from < 0 ? [] : await this.#log.read(this.#stream, { from, direction, limit: this.#limit })
    this.#limit = Math.min(2 * this.#limit, readPageEventsMax)
    this.#index = 0
  }
}

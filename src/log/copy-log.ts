import type { Clock } from '../clock.ts'
import type { NewEvent, RecordedEvent } from '../domain/events.ts'
import { logStream } from '../domain/stream-names.ts'
import type { Entropy } from '../entropy.ts'
import { readPageEventsMax } from '../limits.ts'
import { DamagedLog, type EventLog, Outage } from './event-log.ts'
import { digestLog, type LogDigest } from './log-digest.ts'
import { beginCopy, endCopy } from './log-identity.ts'
import { pagesOfLog } from './pages-of-log.ts'

/**
 * Size of one append to the copy, as JSON. No log stores an append in a form larger than JSON, so SQLite and EventStoreDB both
 * accept this size.
 */
export const copyAppendBytesMax = 800_000
export const copyAppendEventsMax = 1_000
/** Retries while a log is unavailable: five minutes. Then the copying ends, and a later command can continue it. */
const copyRetriesMax = 600
const copyRetryPauseMs = 500

/**
 * The copy stopped, and its target must not be used. `cellarbook log copy` prints the message, so it is written for a
 * person.
 */
export class CopyRefused extends Error {
  override readonly name = 'CopyRefused'
}

export type CopyProgress = {
  readonly phase: 'copying' | 'verifying the source' | 'verifying the copy'
  /** How many events this phase has read. Events that an earlier, interrupted copy has copied are read and counted again. */
  readonly events: number
  /** How much of this phase is done, from 0 to 1. It is estimated from the position of the last event that was read. */
  readonly share: number
}

export type CopyParts = {
  readonly from: EventLog
  readonly to: EventLog
  /**
   * Changes of the SQL schema that were found in the source, and that a person accepted. The finished copy stores this
   * list, so that it still tells how the source was changed.
   */
  readonly accepted?: readonly string[]
  readonly clock: Clock
  readonly entropy: Entropy
  wait(ms: number): Promise<void>
  onProgress(progress: CopyProgress): void
}

/**
 * Copies all events to another log, and then compares both logs (docs/protocol.md, "Copying a log"). Continues an
 * interrupted copy. Nobody is allowed to write to either log meanwhile.
 * @throws NotACopy or UnfinishedCopy if these logs cannot be copied. CopyRefused if the source is empty, an event is
 * unreadable, somebody else writes to the target, or the logs differ. Outage if a store does not answer for too long:
 * copy again.
 */
export const copyLog = async (parts: CopyParts): Promise<LogDigest> => {
  const { onProgress } = parts
  const retry = retrying(parts.wait)
  const [from, to] = [retried(parts.from, retry), retried(parts.to, retry)]
  const last = await lastPosition(from)
  if (last === null) throw new CopyRefused('There is nothing to copy: the source has no event')
  await beginCopy(from, to, parts)
  const streams = new TargetStreams({ from, to })
  let events = 0
  for await (const page of pagesUpTo(from, last)) {
    await copyPage(streams, page)
    events += page.length
    onProgress({ phase: 'copying', events, share: shareOf(page, last) })
  }
  await streams.truncateAgain()

  const source = await digestLog(from, (seen) => onProgress({ phase: 'verifying the source', ...seen }))
  const copy = await digestLog(to, (seen) => onProgress({ phase: 'verifying the copy', ...seen }))
  if (source.digest !== copy.digest) throw new CopyRefused(differenceOf(source, copy))
  await endCopy(to, { ...copy, accepted: parts.accepted ?? [] }, parts)
  return copy
}

const differenceOf = (source: LogDigest, copy: LogDigest): string => {
  const other = [...source.streams].find(([stream, digest]) => copy.streams.get(stream) !== digest)?.[0]
  const where = other === undefined ? 'it has streams that the source lacks' : `"${other}" differs`
  return `The copy differs from the source: ${where}. Was either of them written to meanwhile?`
}

const lastPosition = async (log: RetriedLog): Promise<number | null> => {
  const [last] = await log.readAll({ direction: 'backwards', limit: 1 })
  return last?.position ?? null
}

const shareOf = (page: readonly RecordedEvent[], last: number): number =>
  last === 0 ? 1 : (page.at(-1)?.position ?? last) / last

/** Leaves out the stream `cellarbook-log`, because `beginCopy` has already copied it. */
async function* pagesUpTo(log: RetriedLog, last: number): AsyncGenerator<readonly RecordedEvent[]> {
  for await (const page of pagesOfLog(log, { after: null, limit: readPageEventsMax })) {
    yield page.filter(({ stream, position }) => stream !== logStream && position <= last)
    if ((page.at(-1)?.position ?? last) >= last) return
  }
}

/**
 * Copies events other than readings in the order of the log. Between two such events, the readings of all streams are
 * copied at the same time, to save time. So the order between readings of different streams can change, and the
 * comparison of both logs (`digestLog`) ignores this order.
 */
const copyPage = async (streams: TargetStreams, page: readonly RecordedEvent[]): Promise<void> => {
  let waiting = new Map<string, RecordedEvent[]>()
  const flush = async (): Promise<void> => {
    const runs = waiting
    waiting = new Map()
    await Promise.all(Array.from(runs, ([stream, run]) => streams.copy(stream, run)))
  }
  for (const event of page) {
    const isBarrier = event.type !== 'ReadingAccepted'
    if (isBarrier) await flush()
    const run = waiting.get(event.stream)
    if (run === undefined) waiting.set(event.stream, [event])
    else run.push(event)
    if (isBarrier) await flush()
  }
  await flush()
}

const isUnreadable = (event: RecordedEvent): event is RecordedEvent<'RecordUnreadable'> =>
  event.type === 'RecordUnreadable'

const unreadable = ({ stream, revision, data }: RecordedEvent<'RecordUnreadable'>): CopyRefused =>
  new CopyRefused(
    `Cannot copy revision ${revision} of "${stream}": ${data.why}. Copy with the version that wrote it, or a newer one`,
  )

type Logs = { readonly from: RetriedLog; readonly to: RetriedLog }

type TargetStream = {
  /** The last revision that the target has. -1 means that the stream is still empty there. */
  revision: number
  /** The first revision that the source still has. Earlier events were purged. */
  readonly keptFrom: number
}

class TargetStreams {
  readonly #logs: Logs
  readonly #known = new Map<string, TargetStream>()

  constructor(logs: Logs) {
    this.#logs = logs
  }

  /**
   * Appends those events of `run` that the target lacks, because an interrupted copy can have copied some of them. The
   * revisions in `run` must be consecutive, because the target numbers appended events without gaps.
   */
  async copy(stream: string, run: readonly RecordedEvent[]): Promise<void> {
    const target = await this.#get(stream)
    const fresh = run.filter(({ revision }) => revision > target.revision)
    const unread = fresh.find(isUnreadable)
    if (unread !== undefined) throw unreadable(unread)
    for (const chunk of chunksOf(fresh.map(asNewEvent))) await this.#append(stream, target, chunk)
  }

  async #get(stream: string): Promise<TargetStream> {
    const known = this.#known.get(stream)
    if (known !== undefined) return known
    const { from, to } = this.#logs
    const [first] = await from.read(stream, { limit: 1 })
    const [last] = await to.read(stream, { direction: 'backwards', limit: 1 })
    if (first === undefined)
      throw new CopyRefused(`Cannot copy "${stream}": the source lists its events, but reads it as empty`)
    const target = { revision: last?.revision ?? -1, keptFrom: first.revision }
    this.#known.set(stream, target)
    await this.#fillPurgedRevisions(stream, target, first)
    return target
  }

  async truncateAgain(): Promise<void> {
    const { to } = this.#logs
    for (const [stream, { keptFrom }] of this.#known) {
      if (keptFrom > 0) await to.truncate(stream, keptFrom)
    }
  }

  /**
   * A new stream begins at revision 0. Placeholders fill revisions that were purged in the source, so that the other
   * events keep their revisions. `truncateAgain` hides the placeholders.
   */
  async #fillPurgedRevisions(stream: string, target: TargetStream, kept: RecordedEvent): Promise<void> {
    const revisions = { from: target.revision + 1, before: target.keptFrom }
    for (const chunk of chunksOf(vacantRevisions(stream, revisions, kept))) await this.#append(stream, target, chunk)
  }

  async #append(stream: string, target: TargetStream, events: readonly NewEvent[]): Promise<void> {
    const { to } = this.#logs
    const expected = target.revision < 0 ? 'none' : target.revision
    const result = await to.append(stream, expected, events)
    if (result.outcome === 'conflict') {
      const current = result.currentRevision ?? 'none'
      throw new CopyRefused(`Cannot copy "${stream}": somebody else writes to the target (current revision ${current})`)
    }
    target.revision += events.length
  }
}

/**
 * Creates placeholders for purged revisions, with the time and metadata of the event `kept`. Their ids are derived from
 * stream and revision, so that a log recognizes a retry and writes them only once. `idempotency` is left out, because
 * it can be large and every placeholder would repeat it.
 */
function* vacantRevisions(
  stream: string,
  revisions: { readonly from: number; readonly before: number },
  kept: RecordedEvent,
): Generator<NewEvent<'RevisionVacant'>> {
  const { recordedAt } = kept
  const { idempotency: _, ...metadata } = kept.metadata
  for (let revision = revisions.from; revision < revisions.before; revision += 1) {
    const id = Bun.randomUUIDv5(`${stream}@${revision}`, 'oid')
    yield { id, type: 'RevisionVacant', recordedAt, data: {}, metadata }
  }
}

const asNewEvent = ({ stream: _, revision: __, position: ___, ...event }: RecordedEvent): NewEvent => event

function* chunksOf(events: Iterable<NewEvent>): Generator<readonly NewEvent[]> {
  let chunk: NewEvent[] = []
  let bytes = 0
  for (const event of events) {
    const size = bytesAtMost(event)
    if (chunk.length > 0 && (chunk.length >= copyAppendEventsMax || bytes + size > copyAppendBytesMax)) {
      yield chunk
      chunk = []
      bytes = 0
    }
    chunk.push(event)
    bytes += size
  }
  if (chunk.length > 0) yield chunk
}

/**
 * Returns an upper bound of the event's size in bytes. `length` counts UTF-16 units, and each unit takes at most 3
 * bytes in UTF-8. The 200 bytes are for the id, the type and the time.
 */
const bytesAtMost = ({ data, metadata }: NewEvent): number =>
  3 * (JSON.stringify(data).length + JSON.stringify(metadata).length) + 200

type Retry = <T>(work: () => Promise<T>) => Promise<T>
type RetriedLog = Pick<EventLog, 'read' | 'readAll' | 'append' | 'truncate'>

const retried = (log: EventLog, retry: Retry): RetriedLog => ({
  read: (...asked) => retry(() => log.read(...asked)),
  readAll: (...asked) => retry(() => log.readAll(...asked)),
  append: (...asked) => retry(() => log.append(...asked)),
  truncate: (...asked) => retry(() => log.truncate(...asked)),
})

/**
 * Tries `work` at most `copyRetriesMax` times while the store cannot answer. Repeating an append is safe: a log writes
 * events with the same ids only once.
 */
const retrying =
  (wait: CopyParts['wait']): Retry =>
  async (work) => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await work()
      } catch (error) {
        if (!isPassing(error) || tries >= copyRetriesMax) throw error
        await wait(copyRetryPauseMs)
      }
    }
  }

const isPassing = (error: unknown): boolean =>
  error instanceof Outage &&
  !(error instanceof DamagedLog) &&
  (error.reason === 'unavailable' || error.reason === 'overloaded')

import type { Clock } from '../clock.ts'
import type { NewEvent, RecordedEvent } from '../domain/events.ts'
import { logStream } from '../domain/stream-names.ts'
import type { Entropy } from '../entropy.ts'
import { readPageEventsMax } from '../limits.ts'
import { DamagedLog, type EventLog, Outage } from './event-log.ts'
import { digestLog, type LogDigest } from './log-digest.ts'
import { beginCopy, endCopy } from './log-identity.ts'
import { pagesOfLog } from './pages-of-log.ts'

/** As JSON. No log stores an append in a larger form, so SQLite and EventStoreDB both accept this size. */
export const copyAppendBytesMax = 800_000
export const copyAppendEventsMax = 1_000
/** The tries take five minutes. Then the copying ends, and a later command can continue it. */
const copyRetriesMax = 600
const copyRetryPauseMs = 500

/** The target must not be used. `cellarbook log copy` prints the message. */
export class CopyRefused extends Error {
  override readonly name = 'CopyRefused'
}

export type CopyProgress = {
  readonly phase: 'copying' | 'verifying the source' | 'verifying the copy'
  /** Includes events that an earlier, interrupted copy has copied. */
  readonly events: number
  /** From 0 to 1, by the last position that was read. */
  readonly share: number
}

export type CopyParts = {
  readonly from: EventLog
  readonly to: EventLog
  /** Accepted changes of the source's SQL schema (`endCopy`). */
  readonly accepted?: readonly string[]
  readonly clock: Clock
  readonly entropy: Entropy
  wait(ms: number): Promise<void>
  onProgress(progress: CopyProgress): void
}

/**
 * Continues an interrupted copy (docs/protocol.md, "Copying a log"). @throws NotACopy or UnfinishedCopy if these logs
 * cannot be copied. CopyRefused if the source is empty, an event is unreadable, somebody else writes to the target, or the
 * logs differ. Outage: copy again.
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

/** `beginCopy` has copied `cellarbook-log` already. */
async function* pagesUpTo(log: RetriedLog, last: number): AsyncGenerator<readonly RecordedEvent[]> {
  for await (const page of pagesOfLog(log, { after: null, limit: readPageEventsMax })) {
    yield page.filter(({ stream, position }) => stream !== logStream && position <= last)
    if ((page.at(-1)?.position ?? last) >= last) return
  }
}

/**
 * To save time, streams are copied in parallel where only readings lie between two events of other types. So the order of
 * these readings can differ in the copy, and `digestLog` ignores it.
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
  /** The last revision that the target has, or -1. */
  revision: number
  /** The first revision that the source still has. */
  readonly keptFrom: number
}

class TargetStreams {
  readonly #logs: Logs
  readonly #known = new Map<string, TargetStream>()

  constructor(logs: Logs) {
    this.#logs = logs
  }

  /**
   * Appends what an interrupted copy has not copied. The revisions in `run` must be consecutive, because the target numbers
   * events without gaps.
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

  /** A new stream begins at revision 0. `truncateAgain` hides the placeholders. */
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

/** Derived ids let a log recognize a retry. `idempotency` can be large, and is left out. */
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

/** A UTF-16 unit takes at most 3 bytes. 200 are for id, type and time. */
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

/** Trying again is safe: a log writes events with the same ids only once. */
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

import { purgeBefore } from '../../domain/cellar.ts'
import type { CellarPolicy, NewEvent, RecordedEvent } from '../../domain/events.ts'
import {
  attentionStream,
  cellarStream,
  nodeRefusalsStream,
  nodesAttentionStream,
  refusalsStream,
  signInsStream,
} from '../../domain/stream-names.ts'
import { readPageEventsMax, retentionMarginMs } from '../../limits.ts'
import { DamagedLog } from '../../log/event-log.ts'
import type { ActorContext } from '../actor-context.ts'
import { askedBy, systemAsker } from '../asked-by.ts'
import { appendUntilKnown } from '../stream/append-until-known.ts'
import { readBack } from '../stream/read-stream.ts'

export const recordsKeptMs = { signins: 30 * 24 * 3_600_000, refusals: 30 * 24 * 3_600_000 } as const

/** Records of a cellar are never kept longer than its readings. */
export const recordsKeptMsOf = ({ retentionMs }: Pick<CellarPolicy, 'retentionMs'>): number =>
  Math.min(recordsKeptMs.refusals, retentionMs ?? Number.POSITIVE_INFINITY)

type DueDate = {
  readonly stream: string
  readonly keptMs: number
  readonly now: number
  readonly recordedBefore: number
}
type Due = DueDate & { readonly first: RecordedEvent; readonly end: number }

/** Streams whose records are kept for the same time. */
type Group = { readonly name: string; readonly keptMs: number; readonly streams: () => readonly string[] }

/**
 * Appends `RecordsPurged` to a stream of records, then truncates it. Only one node's append finds the expected revision, so
 * records are purged once.
 */
export class RecordRetention {
  readonly #context: ActorContext
  /** By the group's name, in ms. A run with the same time skips the group, so each stream is read once a day. */
  readonly #doneBefore = new Map<string, number>()

  readonly #deliveryStreams: () => readonly string[]

  constructor(context: ActorContext, deliveryStreams: () => readonly string[]) {
    this.#context = context
    this.#deliveryStreams = deliveryStreams
  }

  /** Only while the clock is trusted (`time/purge-clock.ts`), because a purge cannot be undone. @throws Outage */
  async run(now: number): Promise<void> {
    for (const group of this.#groups()) await this.#purgeGroup(group, now)
  }

  #groups(): readonly Group[] {
    const { cellars, keys } = this.#context.projections
    const ofNode = (stream: string, keptMs: number): Group => ({ name: stream, keptMs, streams: () => [stream] })
    return [
      ofNode(signInsStream, recordsKeptMs.signins),
      ofNode(nodeRefusalsStream, recordsKeptMs.refusals),
      ofNode(nodesAttentionStream, recordsKeptMs.refusals),
      ...this.#deliveryStreams().map((stream) => ofNode(stream, recordsKeptMs.refusals)),
      ...cellars.list().map(({ cellar, policy }) => ({
        name: cellarStream(cellar),
        keptMs: recordsKeptMsOf(policy),
        streams: () => [attentionStream(cellar), ...keys.ofCellar(cellar).map(({ keyId }) => refusalsStream(keyId))],
      })),
    ]
  }

  async #purgeGroup({ name, keptMs, streams }: Group, now: number): Promise<void> {
    const recordedBefore = purgeBefore(now, keptMs)
    const doneBefore = this.#doneBefore.get(name)
    if (doneBefore !== undefined && recordedBefore <= doneBefore) return
    for (const stream of streams()) {
      if (this.#context.isStopping) return
      try {
        const date = { stream, keptMs, now, recordedBefore }
        if (!(await this.#purge(date, { isFirst: doneBefore === undefined }))) return
      } catch (error) {
        // The other streams do not wait for a damaged one.
        if (!(error instanceof DamagedLog)) throw error
      }
    }
    this.#doneBefore.set(name, recordedBefore)
  }

  /** False: another node has appended first, so a later run must try again. */
  async #purge(date: DueDate, { isFirst }: { readonly isFirst: boolean }): Promise<boolean> {
    const { stream } = date
    const [first, second] = await this.#context.log.read(stream, { limit: 2 })
    if (first === undefined) return true
    // A stopped process can have left events that are hidden but not deleted.
    if (isFirst && first.revision > 0) await this.#context.log.truncate(stream, first.revision)
    // The last event of a stream always stays. Otherwise a quiet stream would get another `RecordsPurged` each month.
    if (first.type === 'RecordsPurged' && second === undefined) return true
    const end = await this.#endOf(date, first.revision)
    return end === first.revision || this.#purgeDue({ ...date, first, end })
  }

  async #purgeDue({ stream, first, end, keptMs, recordedBefore }: Due): Promise<boolean> {
    const { last, purgedTo } = await this.#lastPurge(stream, Math.min(first.recordedAt, recordedBefore) + keptMs)
    if (purgedTo < end) {
      const firstRevision = Math.max(first.revision, purgedTo)
      const data = { firstRevision, lastRevision: end - 1, recordedBefore }
      const events = [this.#purgedEvent(data)]
      const result = await appendUntilKnown(
        this.#context,
        { stream, expected: last.revision, events },
        { mustFinish: false },
      )
      if (result.outcome === 'conflict') return false
    }
    await this.#context.log.truncate(stream, Math.max(end, purgedTo))
    return true
  }

  async #endOf(date: DueDate, from: number): Promise<number> {
    const scan = { end: from, isBehindYounger: false }
    let standing = Number.POSITIVE_INFINITY
    for (let next = from; ; ) {
      const page = await this.#context.log.read(date.stream, { from: next, limit: readPageEventsMax })
      const times = page.map((record) => scanned(scan, record, date))
      const attention = page.findLast((record) => record.type === 'AttentionChanged')
      if (attention !== undefined)
        standing = attention.data.now.length > 0 ? attention.revision : Number.POSITIVE_INFINITY
      const last = page.at(-1)
      if (last === undefined || page.length < readPageEventsMax || times.every((time) => time === 'younger')) {
        // After a long stop, no look has written its lines again yet. Without them, they would all begin anew.
        return Math.min(scan.end, standing)
      }
      next = last.revision + 1
    }
  }

  /**
   * `purgedTo`: the first revision that the newest purge has kept; 0 if no purge matters. The caller must truncate up to it:
   * the node that appended the purge may have stopped before its truncation.
   */
  async #lastPurge(stream: string, sinceMs: number): Promise<{ last: RecordedEvent; purgedTo: number }> {
    let last: RecordedEvent | undefined
    let purgedTo = 0
    await readBack(this.#context.log, stream, (page) => {
      last ??= page[0]
      for (const event of page) {
        if (event.type === 'RecordsPurged') purgedTo = Math.min(event.data.lastRevision + 1, event.revision)
        // An earlier purge event concerns only records that are already deleted.
        if (event.type === 'RecordsPurged' || (event.recordedAt > 0 && event.recordedAt < sinceMs)) return true
      }
      return false
    })
    if (last === undefined) throw new Error(`Cannot purge "${stream}": the stream is empty`)
    return { last, purgedTo }
  }

  #purgedEvent(data: NewEvent<'RecordsPurged'>['data']): NewEvent<'RecordsPurged'> {
    const { clock, entropy } = this.#context
    const metadata = askedBy(systemAsker(this.#context))
    return { id: entropy.uuid(), type: 'RecordsPurged', recordedAt: clock.now(), data, metadata }
  }
}

/**
 * The clock of the node that wrote a record can have been wrong (docs/protocol.md, "Retention"). So a record is also purged
 * if a later record of the stream is old enough. `unknown` decides nothing: the time is 0, in the future, or very old
 * although a younger record came before.
 */
const scanned = (
  scan: { end: number; isBehindYounger: boolean },
  { recordedAt, revision }: RecordedEvent,
  { now, recordedBefore, keptMs }: DueDate,
): 'unknown' | 'younger' | 'due' => {
  if (recordedAt === 0 || recordedAt > now + retentionMarginMs) return 'unknown'
  if (recordedAt >= recordedBefore) {
    scan.isBehindYounger = true
    return 'younger'
  }
  if (scan.isBehindYounger && recordedAt < recordedBefore - keptMs) return 'unknown'
  scan.end = revision + 1
  return 'due'
}

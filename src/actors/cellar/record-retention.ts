import type { NewEvent, RecordedEvent } from '../../domain/events.ts'
import { purgeBefore } from '../../domain/purge-before.ts'
import { signInsStream } from '../../domain/stream-names.ts'
import { readPageEventsMax, recordsKeptMs, retentionMarginMs } from '../../limits.ts'
import { askedBy } from '../asked-by.ts'
import type { Host } from '../host.ts'
import { appendUntilKnown } from '../stream/append-until-known.ts'

type PurgedStream = { readonly stream: string; readonly keptMs: number }

const purgedStreams: readonly PurgedStream[] = [{ stream: signInsStream, keptMs: recordsKeptMs.signins }]

/** Records from before `recordedBefore` are due at `now`. Both are by this node's clock. */
type DueDate = PurgedStream & { readonly now: number; readonly recordedBefore: number }
/** All events from `first` to before `end` may be purged. */
type Due = DueDate & { readonly first: RecordedEvent; readonly end: number }

/**
 * Purges records that are older than their category is kept: first `RecordsPurged` in the same stream, then the truncation.
 * Every node tries once for each day that ends, and the exact revision lets one of them write. If that node dies between the
 * two, the next run of any node truncates.
 */
export class RecordRetention {
  readonly #host: Host
  /** By stream: all records from before this time (ms) are purged. */
  readonly #doneBefore = new Map<string, number>()

  constructor(host: Host) {
    this.#host = host
  }

  /** Call it only while the clock is not in doubt. @throws Outage */
  async run(now: number): Promise<void> {
    for (const purged of purgedStreams) {
      if (this.#host.isStopping) return
      await this.#purge(purged, now)
    }
  }

  async #purge({ stream, keptMs }: PurgedStream, now: number): Promise<void> {
    const recordedBefore = purgeBefore(now, keptMs)
    const doneBefore = this.#doneBefore.get(stream)
    if (doneBefore !== undefined && recordedBefore <= doneBefore) return
    const [first] = await this.#host.log.read(stream, { limit: 1 })
    if (first === undefined) {
      this.#doneBefore.set(stream, recordedBefore)
      return
    }
    // Rows that a stopped process left behind are hidden, and must be deleted too.
    if (doneBefore === undefined && first.revision > 0) await this.#host.log.truncate(stream, first.revision)
    const date = { stream, keptMs, now, recordedBefore }
    const end = await this.#endOf(date, first.revision)
    if (end > first.revision && !(await this.#purgeDue({ ...date, first, end }))) return
    this.#doneBefore.set(stream, recordedBefore)
  }

  /** `false` if another node or a sign-in has written meanwhile. The next run tries again. */
  async #purgeDue({ stream, first, end, keptMs, recordedBefore }: Due): Promise<boolean> {
    const { last, purgedTo } = await this.#lastPurge(stream, Math.min(first.recordedAt, recordedBefore) + keptMs)
    if (purgedTo < end) {
      const firstRevision = Math.max(first.revision, purgedTo)
      const data = { firstRevision, lastRevision: end - 1, recordedBefore }
      const events = [this.#purgedEvent(data)]
      const result = await appendUntilKnown(
        this.#host,
        { stream, expected: last.revision, events },
        { mustFinish: false },
      )
      if (result.outcome === 'conflict') return false
    }
    await this.#host.log.truncate(stream, Math.max(end, purgedTo))
    return true
  }

  /**
   * The revision after the last record that is due, `from` if there is none. Reads from the beginning of the stream: what is
   * due, usually one day, and a page that has nothing due.
   */
  async #endOf(date: DueDate, from: number): Promise<number> {
    const scan = { end: from, isBehindYounger: false }
    for (let next = from; ; ) {
      const page = await this.#host.log.read(date.stream, { from: next, limit: readPageEventsMax })
      const times = page.map((record) => scanned(scan, record, date))
      const last = page.at(-1)
      if (last === undefined || page.length < readPageEventsMax || times.every((time) => time === 'younger')) {
        return scan.end
      }
      next = last.revision + 1
    }
  }

  /** The stream's last event, and where the last purge ended. That purge may not have been truncated yet. */
  async #lastPurge(stream: string, sinceMs: number): Promise<{ last: RecordedEvent; purgedTo: number }> {
    let last: RecordedEvent | null = null
    for (let from: number | undefined; ; ) {
      const page = await this.#host.log.read(stream, {
        direction: 'backwards',
        limit: readPageEventsMax,
        ...(from !== undefined && { from }),
      })
      last ??= page[0] ?? null
      if (last === null) throw new Error(`Cannot purge "${stream}": its last event is gone`)
      for (const event of page) {
        if (event.type === 'RecordsPurged') {
          return { last, purgedTo: Math.min(event.data.lastRevision + 1, event.revision) }
        }
        // An older purge can't concern events that are still there.
        if (event.recordedAt > 0 && event.recordedAt < sinceMs) return { last, purgedTo: 0 }
      }
      const oldest = page.at(-1)
      if (oldest === undefined || page.length < readPageEventsMax) return { last, purgedTo: 0 }
      from = oldest.revision - 1
    }
  }

  #purgedEvent(data: NewEvent<'RecordsPurged'>['data']): NewEvent<'RecordsPurged'> {
    const { clock, entropy } = this.#host
    const metadata = askedBy({ by: { kind: 'system' }, requestId: entropy.uuid() })
    return { id: entropy.uuid(), type: 'RecordsPurged', recordedAt: clock.now(), data, metadata }
  }
}

/**
 * A record has the time of the clock that wrote it, and that clock may have been wrong. So a record is due also if one behind it
 * is due, as that one was written later. Two times are not trusted:
 *
 * - A time that is not known, or that this node's clock has not reached: it says nothing.
 * - Behind a younger record, a time from long before all that is kept: that clock had not been set. It would purge what is young.
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

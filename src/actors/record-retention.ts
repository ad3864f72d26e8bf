import type { NewEvent, RecordedEvent } from '../domain/events.ts'
import { purgeBefore } from '../domain/retention.ts'
import { signInsStream } from '../domain/streams.ts'
import { readPageEventsMax, recordsKeptMs } from '../limits.ts'
import { appendUntilKnown } from './append-until-known.ts'
import type { Host } from './host.ts'
import { askedBy } from './metadata.ts'

type PurgedStream = { readonly stream: string; readonly keptMs: number }

const purgedStreams: readonly PurgedStream[] = [{ stream: signInsStream, keptMs: recordsKeptMs.signins }]

/** All events from `first` to before `end` may be purged. */
type Due = {
  readonly stream: string
  readonly first: RecordedEvent
  readonly end: number
  readonly keptMs: number
  readonly recordedBefore: number
}

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
    if (first.recordedAt < recordedBefore) {
      const end = await this.#endOf(stream, first.revision, recordedBefore)
      const due = { stream, first, end, keptMs, recordedBefore }
      if (end > first.revision && !(await this.#purgeDue(due))) return
    }
    this.#doneBefore.set(stream, recordedBefore)
  }

  /** `false` if another node or a sign-in has written meanwhile. The next run tries again. */
  async #purgeDue({ stream, first, end, keptMs, recordedBefore }: Due): Promise<boolean> {
    const { last, purgedTo } = await this.#lastPurge(stream, first.recordedAt + keptMs)
    if (purgedTo < end) {
      const firstRevision = Math.max(first.revision, purgedTo)
      const data = { firstRevision, lastRevision: end - 1, recordedBefore }
      const events = [this.#purgedEvent(data, last.recordedAt)]
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
   * The revision after the last event that was recorded before that time; `from` if there is none. Reads from the beginning of
   * the stream, usually one day of it. An event whose time can't be read is purged with an older event after it.
   */
  async #endOf(stream: string, from: number, recordedBefore: number): Promise<number> {
    let end = from
    for (let next = from; ; ) {
      const page = await this.#host.log.read(stream, { from: next, limit: readPageEventsMax })
      for (const { recordedAt, revision } of page) {
        if (recordedAt >= recordedBefore) return end
        if (recordedAt > 0) end = revision + 1
      }
      const last = page.at(-1)
      if (last === undefined || page.length < readPageEventsMax) return end
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

  #purgedEvent(data: NewEvent<'RecordsPurged'>['data'], notBeforeMs: number): NewEvent<'RecordsPurged'> {
    const { clock, entropy } = this.#host
    const metadata = askedBy({ by: { kind: 'system' }, requestId: entropy.uuid() })
    const recordedAt = Math.max(clock.now(), notBeforeMs)
    return { id: entropy.uuid(), type: 'RecordsPurged', recordedAt, data, metadata }
  }
}

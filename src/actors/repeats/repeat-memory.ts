import type { RecordedEvent } from '../../domain/events.ts'
import { type FoldedTo, foldedToOf } from '../../domain/log-reference.ts'
import { countOf } from '../../domain/reading/columns.ts'
import { type IdempotentAppend, idempotentAppendAt, isForgotten } from '../../domain/reading/idempotency-key.ts'
import { isRun, type LogItem, lastPositionOf, type RecordedRun } from '../../domain/reading/recorded-run.ts'
import { isRecordStream } from '../../domain/stream-names.ts'
import {
  heartbeatMs,
  idempotencyBusyWritesMin,
  idempotencyMarginMs,
  idempotencyMarkMs,
  idempotencyMs,
  idempotencyStartMsMax,
  idempotencyStartPagesMax,
  idempotencyWaitingMax,
  idempotencyWrittenAtOnce,
  readPageEventsMax,
  storeRetryPauseMsMax,
} from '../../limits.ts'
import { Outage, UndecodableEvent } from '../../log/event-log.ts'
import { IndexBusy, IndexUnusable, type RepeatsIndex } from '../../log/repeats-index.ts'
import type { Host } from '../host.ts'
import { foldedEvent } from '../stream/folded-event.ts'

/**
 * - `folding`: the index of idempotency keys is being rebuilt.
 * - `unusable`: the index failed, and is not rebuilt yet.
 * - `unwritable`: the file cannot be written, so new entries wait in memory.
 */
export type IndexTrouble = { readonly kind: 'folding' | 'unusable' | 'unwritable'; readonly why: string }

/**
 * Finds what was stored with an idempotency key: in an index on disk, or among new entries in memory. If the index is
 * lost, or too many entries wait, the index is rebuilt from the log. Until then every answer is `unknown`, because a
 * wrong "not found" would store a reading twice.
 */
export class RepeatMemory {
  readonly #host: Host
  readonly #index: RepeatsIndex
  readonly #unwritten = new Map<string, IdempotentAppend>()
  #weight = 0
  #deliveredTo: FoldedTo | null = null
  #foldedTo: FoldedTo | null = null
  #isComplete = false
  /** How often the index was lost. If the number changes during a rebuild, the rebuild begins again. */
  #losses = 0
  #mustStartAnew = false
  #isRebuilding = false
  /** The subscription delivers all events after this position, so the start need not read them. Infinity before `begin`. */
  #deliveredAfter = Number.POSITIVE_INFINITY
  #isCaughtUp = false
  readonly #caughtUp = Promise.withResolvers<void>()
  /**
   * The time (ms) that counts as now when old entries are forgotten. It starts at the newest event's time and runs at
   * most at twice the normal speed. Otherwise a clock that is ahead for a moment would forget entries too early, and
   * requests would be stored twice.
   */
  #clockMs = 0
  #writing: Promise<void> | null = null
  #writtenBeat = 0
  #isStopped = false
  #unusable: string | null = null
  /** Number of failed writes in a row. A later try can succeed: the disk was full, or another program had locked the file. */
  #busyWrites = 0
  #busyWhy = ''

  constructor(host: Host, index: RepeatsIndex) {
    this.#host = host
    this.#index = index
  }

  /** The position up to which all idempotency keys are known. -1 means that the index is incomplete. */
  get foldedTo(): number {
    return this.#isComplete ? positionOf(this.#foldedTo) : -1
  }

  get trouble(): IndexTrouble | null {
    const isUnwritable = this.#busyWrites >= idempotencyBusyWritesMin
    if (this.#isComplete) return isUnwritable ? { kind: 'unwritable', why: this.#busyWhy } : null
    const why = this.#unusable ?? (isUnwritable ? this.#busyWhy : null)
    if (why !== null) return { kind: 'unusable', why }
    return { kind: 'folding', why: 'it is read from the log' }
  }

  find(stream: string, keyHash: string): IdempotentAppend | null | 'unknown' {
    if (!this.#isComplete) return 'unknown'
    try {
      // A rebuild reads the log backwards, so the entry in memory can be older than the entry on disk. The later entry
      // counts.
      const found = laterOf(this.#unwritten.get(nameOf(stream, keyHash)) ?? null, this.#index.find(stream, keyHash))
      return found === null || isForgotten(found, this.#forgettingNowMs) ? null : found
    } catch (fault) {
      this.#lose(fault)
      return 'unknown'
    }
  }

  isPast({ recordedAt }: Pick<RecordedEvent, 'recordedAt'>): boolean {
    return recordedAt < this.#forgetBeforeMs
  }

  learn(items: readonly LogItem[]): void {
    for (const item of items) {
      if (isRun(item)) {
        this.#learnRun(item)
        continue
      }
      if (item.metadata.idempotency === undefined) continue
      const append = idempotentAppendAt(item)
      if (append !== null) this.keep(append)
    }
  }

  keep(append: IdempotentAppend): void {
    if (this.isPast(append)) return
    const name = nameOf(append.stream, append.idempotency.keyHash)
    const known = this.#unwritten.get(name)
    if (known !== undefined && known.revision >= append.revision) return
    this.#unwritten.set(name, append)
    this.#weight += weightOf(append) - (known === undefined ? 0 : weightOf(known))
    if (this.#weight > idempotencyWaitingMax) this.#lose(overrun)
    else if (this.#weight >= idempotencyWrittenAtOnce) this.#writeSoon()
  }

  fold(items: readonly LogItem[]): void {
    const last = items.at(-1)
    if (last === undefined || lastPositionOf(last) <= positionOf(this.#foldedTo)) return
    this.#setClockAtStart(last)
    this.learn(items)
    this.#deliveredTo = foldedToOf(last)
    this.#foldedTo = this.#deliveredTo
  }

  /**
   * Rebuilds the index from the log, because the subscription delivers only the events after `last`. Resolves when the
   * rebuild ends. If the rebuild is slow, resolves earlier, so that the node can start.
   */
  begin(last: Pick<RecordedEvent, 'position' | 'recordedAt'> | null): Promise<void> {
    this.#deliveredAfter = last?.position ?? -1
    if (last !== null) this.#setClockAtStart(last)
    return new Promise((resolve) => {
      const forget = this.#host.schedule.after(idempotencyStartMsMax, resolve)
      this.#rebuild(() => {
        forget()
        resolve()
      })
    })
  }

  caughtUp(): void {
    // `#clockMs` is still 0 if the log was empty, because no event has set it.
    if (this.#clockMs === 0) this.#clockMs = this.#host.clock.now()
    this.#isCaughtUp = true
    this.#caughtUp.resolve()
  }

  onBeat(): void {
    this.#clockMs = Math.min(this.#host.clock.now(), this.#clockMs + 2 * heartbeatMs)
    const isMarkDue = this.#host.beat - this.#writtenBeat >= idempotencyMarkMs / heartbeatMs
    const isBehind = this.#isComplete && positionOf(this.#foldedTo) !== positionOf(this.#index.foldedTo)
    if (this.#unwritten.size > 0 || (isMarkDue && isBehind)) this.#writeSoon()
  }

  async stop(): Promise<void> {
    await this.#writing
    if (this.#isComplete) await this.#write()
    this.#isStopped = true
  }

  get #forgettingNowMs(): number {
    return Math.min(this.#host.clock.now(), this.#clockMs)
  }

  get #forgetBeforeMs(): number {
    return this.#forgettingNowMs - idempotencyMs - idempotencyMarginMs
  }

  /** Sets `#clockMs` only during the start: later events can come from this node itself, whose clock can be ahead. */
  #setClockAtStart({ recordedAt }: Pick<RecordedEvent, 'recordedAt'>): void {
    if (!this.#isCaughtUp) this.#clockMs = Math.max(this.#clockMs, recordedAt)
  }

  #learnRun({ stream, revision: first, recordedAt, run }: RecordedRun): void {
    let revision = first
    for (const { readings, idempotency } of run.requests) {
      if (idempotency !== null) this.keep({ stream, revision, recordedAt, idempotency })
      revision += countOf(readings)
    }
  }

  #writeSoon(): void {
    if (this.#writing === null && !this.#isStopped) this.#write().catch(this.#host.onBug)
  }

  #write(): Promise<void> {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = null
    })
    return this.#writing
  }

  async #writeAll(): Promise<void> {
    this.#writtenBeat = this.#host.beat
    const appends = [...this.#unwritten.values()]
    const foldedTo = this.#isComplete ? this.#foldedTo : null
    try {
      await this.#index.write({ appends, foldedTo, forgetBeforeMs: this.#forgetBeforeMs })
      this.#busyWrites = 0
    } catch (fault) {
      if (!(fault instanceof IndexBusy)) {
        this.#lose(fault)
        return
      }
      this.#busyWrites += 1
      this.#busyWhy = fault.message
      // The entries stay in memory for the next write. If the node stops before that, its next start reads them from
      // the log.
      if (!this.#host.isStopping) await this.#host.pause(storeRetryPauseMsMax)
      return
    }
    for (const append of appends) {
      const name = nameOf(append.stream, append.idempotency.keyHash)
      if (this.#unwritten.get(name) !== append) continue
      this.#unwritten.delete(name)
      this.#weight -= weightOf(append)
    }
  }

  #lose(fault: unknown): void {
    if (!(fault instanceof IndexUnusable)) throw fault
    this.#unusable = fault.message
    this.#mustStartAnew ||= fault !== overrun
    this.#losses += 1
    this.#isComplete = false
    this.#unwritten.clear()
    this.#weight = 0
    this.#rebuild(() => {})
  }

  /** Rebuilds the index. Calls `onSlow` when a start should not wait longer, and at the end. */
  #rebuild(onSlow: () => void): void {
    if (this.#isRebuilding) return
    this.#isRebuilding = true
    this.#rebuildUntilComplete(onSlow)
      .catch(this.#host.onBug)
      .finally(() => {
        this.#isRebuilding = false
        onSlow()
      })
  }

  async #rebuildUntilComplete(onSlow: () => void): Promise<void> {
    while (!this.#isStopped) {
      try {
        await this.#writing
        if (this.#mustStartAnew) await this.#index.startAnew()
        this.#mustStartAnew = false
        // After the index was lost, waits until the subscription has delivered the old events. The rebuild and the
        // subscription together could again add entries faster than the index writes them.
        if (this.#losses > 0) await this.#caughtUp.promise
        const losses = this.#losses
        const end = await this.#readBackwards(onSlow)
        if (losses === this.#losses) {
          this.#foldedTo = positionOf(end) > positionOf(this.#deliveredTo) ? end : this.#deliveredTo
          this.#isComplete = true
          this.#unusable = null
          return
        }
      } catch (fault) {
        if (fault instanceof IndexUnusable || fault instanceof Outage) this.#unusable = fault.message
        if (fault instanceof IndexUnusable) this.#mustStartAnew = true
        // An event that cannot be decoded is no bug here, because `stream/follow.ts` reports it. The rebuild tries
        // again.
        else if (![Outage, UndecodableEvent, IndexBusy].some((known) => fault instanceof known)) throw fault
      }
      onSlow()
      await this.#host.pause(storeRetryPauseMsMax)
    }
  }

  /**
   * Returns the position up to which the index is complete; -1 if it is incomplete. Empties the index in three cases. Its
   * structure is damaged. Its last event is not in the log, so it belongs to another log. Or that event was purged, so all
   * entries are too old to count.
   */
  async #indexCompleteTo(): Promise<number> {
    if (this.#index.foldedTo !== null) await this.#index.check()
    const { foldedTo } = this.#index
    if (foldedTo === null) return -1
    const found = await foldedEvent(this.#host.log, foldedTo)
    if (found !== null && found !== 'purged') return foldedTo.position
    await this.#index.startAnew()
    return -1
  }

  /**
   * Reads the log backwards from its end, until the index is complete or entries are too old to count. Returns the
   * newest event. A start reads nothing if the subscription will deliver all missing events.
   */
  async #readBackwards(onSlow: () => void): Promise<FoldedTo | null> {
    const completeTo = await this.#indexCompleteTo()
    if (this.#losses === 0 && completeTo >= this.#deliveredAfter) return this.#index.foldedTo
    let end: FoldedTo | null = null
    let before: number | null = null
    for (let pages = 0; !this.#isStopped; pages += 1) {
      const options = { direction: 'backwards', limit: readPageEventsMax } as const
      const page = await this.#host.log.readAll(before === null ? options : { ...options, from: before })
      // Skips streams of records, such as sign-ins. Their times can be wrong. Their events are purged soon, and an
      // index whose last event was purged is discarded.
      const folded = page.filter(({ stream }) => !isRecordStream(stream))
      if (end === null && folded[0] !== undefined) {
        end = foldedToOf(folded[0])
        this.#setClockAtStart(folded[0])
      }
      for (const event of folded) {
        this.learn([event])
        while (this.#weight >= idempotencyWrittenAtOnce && !this.#isStopped) await this.#write()
      }
      const oldest = page.at(-1)
      const oldestFolded = folded.at(-1)
      if (oldest === undefined || page.length < readPageEventsMax) return end
      if (oldest.position <= completeTo || (oldestFolded !== undefined && this.isPast(oldestFolded))) return end
      before = oldest.position
      if (pages === idempotencyStartPagesMax) onSlow()
    }
    return end
  }
}

const positionOf = (foldedTo: FoldedTo | null): number => foldedTo?.position ?? -1

const overrun = new IndexUnusable('Cannot keep up with the log')

const laterOf = (a: IdempotentAppend | null, b: IdempotentAppend | null): IdempotentAppend | null =>
  a !== null && (b === null || a.revision > b.revision) ? a : b

const nameOf = (stream: string, keyHash: string): string => `${stream} ${keyHash}`

/**
 * How much memory the entry takes, compared with a usual entry. Version 1 of the stored JSON has one item for each
 * refused reading of a batch, so such an entry can be large.
 */
const weightOf = ({ idempotency: { batch } }: IdempotentAppend): number =>
  batch?.refusals?.kind === 'verdicts' ? 1 + batch.refusals.items.length : 1

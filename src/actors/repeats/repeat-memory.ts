import type { RecordedEvent } from '../../domain/events.ts'
import { type FoldedTo, foldedToOf } from '../../domain/folded-to.ts'
import { isForgotten, type KeyedAppend, keyedAppendAt } from '../../domain/reading/idempotency-key.ts'
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
 * Why requests with an `Idempotency-Key` are refused, or may be soon. `folding`: the index is being rebuilt from the log.
 * `unusable`: its file can't be used. `unwritable`: its file can't be written now, and what it lacks waits in memory.
 */
export type IndexTrouble = { readonly kind: 'folding' | 'unusable' | 'unwritable'; readonly why: string }

/**
 * What this node knows of the `Idempotency-Key`s in the log: an index on disk, and in memory what waits to be written to
 * it. It has everything up to `foldedTo`, where the subscription has come, and beyond that whatever an actor has read or
 * written by itself. An index that is lost, damaged or overrun is folded again from the log; until then the answer is
 * `unknown`, so that nothing is ever stored twice for want of it.
 */
export class RepeatMemory {
  readonly #host: Host
  readonly #index: RepeatsIndex
  /** Not written to the index yet, by stream and key. */
  readonly #waiting = new Map<string, KeyedAppend>()
  #weight = 0
  #heardTo: FoldedTo | null = null
  #foldedTo: FoldedTo | null = null
  #isWhole = false
  /** How often what was known has been lost: a fold that was under way meanwhile is no use. */
  #losses = 0
  #mustStartAnew = false
  #isMending = false
  /** The subscription delivers everything after this position: -1, everything. */
  #deliveredAfter = Number.POSITIVE_INFINITY
  #isCaughtUp = false
  readonly #caughtUp = Promise.withResolvers<void>()
  /**
   * Ms; the clock by which keys are forgotten, or this node's own if that is behind. It begins with the newest event that a
   * start finds, and follows this node's own at twice its pace at the most: one that is ahead would have keys forgotten that
   * still count when it is back, and their requests stored twice. Here nobody waits for it, so it need not believe the
   * minutes or hours that a steady clock has to. The time of a stream, which one event from ahead sets for good, says nothing
   * here.
   */
  #clockMs = 0
  #writing: Promise<void> | null = null
  #writtenBeat = 0
  #isStopped = false
  /** Why the last try to use the index failed; `null`: it did not. */
  #unusable: string | null = null
  /** Writes in a row that found the file locked, or its disk full, and why the last one did. */
  #busyWrites = 0
  #busyWhy = ''

  constructor(host: Host, index: RepeatsIndex) {
    this.#host = host
    this.#index = index
  }

  /** Everything in the log up to this position is known; -1 while that can't be said of any. */
  get foldedTo(): number {
    return this.#isWhole ? positionOf(this.#foldedTo) : -1
  }

  get trouble(): IndexTrouble | null {
    const isUnwritable = this.#busyWrites >= idempotencyBusyWritesMin
    if (this.#isWhole) return isUnwritable ? { kind: 'unwritable', why: this.#busyWhy } : null
    const why = this.#unusable ?? (isUnwritable ? this.#busyWhy : null)
    if (why !== null) return { kind: 'unusable', why }
    return { kind: 'folding', why: 'it is read from the log' }
  }

  /** What that key has stored in the stream, as far as it still counts. */
  find(stream: string, keyHash: string): KeyedAppend | null | 'unknown' {
    if (!this.#isWhole) return 'unknown'
    try {
      // A start reads backwards: what waits to be written may be an older use of the key than the one that is written.
      const found = laterOf(this.#waiting.get(nameOf(stream, keyHash)) ?? null, this.#index.find(stream, keyHash))
      return found === null || isForgotten(found, this.#trailingMs) ? null : found
    } catch (fault) {
      this.#lose(fault)
      return 'unknown'
    }
  }

  /** Whether it was recorded so long ago that no key of it counts, on any node. */
  isPast({ recordedAt }: Pick<RecordedEvent, 'recordedAt'>): boolean {
    return recordedAt < this.#forgetBeforeMs
  }

  /** Takes in what an actor has read of its stream. */
  learn(events: readonly RecordedEvent[]): void {
    for (const event of events) {
      if (event.metadata.idempotency === undefined) continue
      const append = keyedAppendAt(event)
      if (append !== null) this.keep(append)
    }
  }

  /** Takes in what an actor has written. */
  keep(append: KeyedAppend): void {
    if (this.isPast(append)) return
    const name = nameOf(append.stream, append.idempotency.keyHash)
    const known = this.#waiting.get(name)
    if (known !== undefined && known.revision >= append.revision) return
    this.#waiting.set(name, append)
    this.#weight += weightOf(append) - (known === undefined ? 0 : weightOf(known))
    if (this.#weight > idempotencyWaitingMax) this.#lose(overrun)
    else if (this.#weight >= idempotencyWrittenAtOnce) this.#writeSoon()
  }

  /** Takes in what the subscription delivers, which is everything, in order. */
  fold(events: readonly RecordedEvent[]): void {
    const last = events.at(-1)
    if (last === undefined || last.position <= positionOf(this.#foldedTo)) return
    this.#find(last)
    this.learn(events)
    this.#heardTo = foldedToOf(last)
    this.#foldedTo = this.#heardTo
  }

  /**
   * Folds what the index lacks, but for what `fold` will be told of: all that comes after that event (`null`: everything).
   * Resolves when it lacks nothing else, or before, if that takes longer than a start may wait.
   */
  begin(last: RecordedEvent | null): Promise<void> {
    this.#deliveredAfter = last?.position ?? -1
    if (last !== null) this.#find(last)
    return new Promise((resolve) => {
      const forget = this.#host.schedule.after(idempotencyStartMsMax, resolve)
      this.#mend(() => {
        forget()
        resolve()
      })
    })
  }

  /** The subscription has delivered what lay in the log. */
  caughtUp(): void {
    // Of an empty log.
    if (this.#clockMs === 0) this.#clockMs = this.#host.clock.now()
    this.#isCaughtUp = true
    this.#caughtUp.resolve()
  }

  onBeat(): void {
    this.#clockMs = Math.min(this.#host.clock.now(), this.#clockMs + 2 * heartbeatMs)
    const isMarkDue = this.#host.beat - this.#writtenBeat >= idempotencyMarkMs / heartbeatMs
    const isBehind = this.#isWhole && positionOf(this.#foldedTo) !== positionOf(this.#index.foldedTo)
    if (this.#waiting.size > 0 || (isMarkDue && isBehind)) this.#writeSoon()
  }

  /** Writes what waits; nothing is folded from then on. The index stays open: it is whoever opened it who closes it. */
  async stop(): Promise<void> {
    await this.#writing
    if (this.#isWhole) await this.#write()
    this.#isStopped = true
  }

  get #trailingMs(): number {
    return Math.min(this.#host.clock.now(), this.#clockMs)
  }

  get #forgetBeforeMs(): number {
    return this.#trailingMs - idempotencyMs - idempotencyMarginMs
  }

  /** The newest event that a start has found so far. What comes later may be of this node's own clock. */
  #find({ recordedAt }: RecordedEvent): void {
    if (!this.#isCaughtUp) this.#clockMs = Math.max(this.#clockMs, recordedAt)
  }

  #writeSoon(): void {
    if (this.#writing === null && !this.#isStopped) this.#write().catch(this.#host.onBug)
  }

  /** Everything that waits, with the position up to which that makes the index whole. */
  #write(): Promise<void> {
    this.#writing ??= this.#writeWaiting().finally(() => {
      this.#writing = null
    })
    return this.#writing
  }

  async #writeWaiting(): Promise<void> {
    this.#writtenBeat = this.#host.beat
    const appends = [...this.#waiting.values()]
    const foldedTo = this.#isWhole ? this.#foldedTo : null
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
      // What waits goes on waiting, and nothing else is tried meanwhile. A stop leaves it to the next start, which reads it.
      if (!this.#host.isStopping) await this.#host.pause(storeRetryPauseMsMax)
      return
    }
    for (const append of appends) {
      const name = nameOf(append.stream, append.idempotency.keyHash)
      if (this.#waiting.get(name) !== append) continue
      this.#waiting.delete(name)
      this.#weight -= weightOf(append)
    }
  }

  /** From now on nobody can say, until all has been folded again. @throws what is a bug. */
  #lose(fault: unknown): void {
    if (!(fault instanceof IndexUnusable)) throw fault
    this.#unusable = fault.message
    this.#mustStartAnew ||= fault !== overrun
    this.#losses += 1
    this.#isWhole = false
    this.#waiting.clear()
    this.#weight = 0
    this.#mend(() => {})
  }

  /** `onLong` is told when it takes longer than a start may wait, and at the end. */
  #mend(onLong: () => void): void {
    if (this.#isMending) return
    this.#isMending = true
    this.#untilWhole(onLong)
      .catch(this.#host.onBug)
      .finally(() => {
        this.#isMending = false
        onLong()
      })
  }

  async #untilWhole(onLong: () => void): Promise<void> {
    while (!this.#isStopped) {
      try {
        await this.#writing
        if (this.#mustStartAnew) await this.#index.startAnew()
        this.#mustStartAnew = false
        // A start that folds more keys than the index can take would read them beside itself, and lose them again.
        if (this.#losses > 0) await this.#caughtUp.promise
        const losses = this.#losses
        const end = await this.#readBack(onLong)
        if (losses === this.#losses) {
          this.#foldedTo = positionOf(end) > positionOf(this.#heardTo) ? end : this.#heardTo
          this.#isWhole = true
          this.#unusable = null
          return
        }
      } catch (fault) {
        if (fault instanceof IndexUnusable || fault instanceof Outage) this.#unusable = fault.message
        if (fault instanceof IndexUnusable) this.#mustStartAnew = true
        // What can't be decoded is named by whoever follows the log; here it only means that nobody can say yet.
        else if (!(fault instanceof Outage || fault instanceof UndecodableEvent)) throw fault
      }
      onLong()
      await this.#host.pause(storeRetryPauseMsMax)
    }
  }

  /**
   * The position up to which the index is whole. One that was folded from what the log does not have is thrown away, and so is
   * one whose last event was purged: that was stored more than a day ago, so nothing it holds counts any more.
   */
  async #wholeTo(): Promise<number> {
    const { foldedTo } = this.#index
    if (foldedTo === null) return -1
    const found = await foldedEvent(this.#host.log, foldedTo)
    if (found !== null && found !== 'purged') return foldedTo.position
    await this.#index.startAnew()
    return -1
  }

  /**
   * From the end of the log back to where the index is whole, or to what counts no more: after a loss a day. The answer is
   * that end; what comes after it is heard. A start reads nothing if it will hear of all that the index lacks.
   */
  async #readBack(onLong: () => void): Promise<FoldedTo | null> {
    const wholeTo = await this.#wholeTo()
    if (this.#losses === 0 && wholeTo >= this.#deliveredAfter) return this.#index.foldedTo
    let end: FoldedTo | null = null
    let before: number | null = null
    for (let pages = 0; !this.#isStopped; pages += 1) {
      const options = { direction: 'backwards', limit: readPageEventsMax } as const
      const page = await this.#host.log.readAll(before === null ? options : { ...options, from: before })
      // Records don't count: they may have any time, and may be purged soon. The index uses only events that the node folds.
      const folded = page.filter(({ stream }) => !isRecordStream(stream))
      if (end === null && folded[0] !== undefined) {
        end = foldedToOf(folded[0])
        this.#find(folded[0])
      }
      for (const event of folded) {
        this.learn([event])
        // One page can hold more than may wait.
        while (this.#weight >= idempotencyWrittenAtOnce && !this.#isStopped) await this.#write()
      }
      const oldest = page.at(-1)
      const oldestFolded = folded.at(-1)
      if (oldest === undefined || page.length < readPageEventsMax) return end
      if (oldest.position <= wholeTo || (oldestFolded !== undefined && this.isPast(oldestFolded))) return end
      before = oldest.position
      if (pages === idempotencyStartPagesMax) onLong()
    }
    return end
  }
}

const positionOf = (foldedTo: FoldedTo | null): number => foldedTo?.position ?? -1

const overrun = new IndexUnusable('Cannot keep up with the log')

const laterOf = (a: KeyedAppend | null, b: KeyedAppend | null): KeyedAppend | null =>
  a !== null && (b === null || a.revision > b.revision) ? a : b

const nameOf = (stream: string, keyHash: string): string => `${stream} ${keyHash}`

/** What it takes of memory: one, and one more for each verdict that the first version stored with it. */
const weightOf = ({ idempotency: { batch } }: KeyedAppend): number =>
  batch?.refusals?.kind === 'verdicts' ? 1 + batch.refusals.items.length : 1

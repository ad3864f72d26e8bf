import { type Limit, type NewEvent, narrowTo, type RecordedEvent } from '../../domain/events.ts'
import { evolveKey, type KeyEventType, type KeyState } from '../../domain/key.ts'
import { admit, foldReadings, noReadings, type ReadingsState } from '../../domain/reading/admit-by-key-and-window.ts'
import { done, type Outcome, type ReadingRefusal, refused } from '../../domain/refusal.ts'
import { keyStream, readingsStream } from '../../domain/stream-names.ts'
import { heartbeatMs, keyLimitDefault, readPageEventsMax } from '../../limits.ts'
import { type AppendResult, type ExpectedRevision, Outage } from '../../log/event-log.ts'
import type { ActorContext } from '../actor-context.ts'
import type { Checked, Usage } from '../core-interface.ts'
import { type AppendOptions, appendUntilKnown } from '../stream/append-until-known.ts'
import { readFrom } from '../stream/read-stream.ts'
import { loadReadings, readTail } from './load-readings.ts'

/**
 * The most pages that one request reads to find idempotency keys that the index does not have yet. If more are missing, the
 * request is refused, and the next request reads on.
 */
const repeatsGapPagesMax = 100
/** With more pages of other nodes' readings than this, it is faster to load the state again from the end of the stream. */
export const catchUpPagesMax = 3
/**
 * An open page makes an actor read other nodes' readings at most once in this time. It must be a multiple of `heartbeatMs`.
 */
export const usageCatchUpMs = 2_000

export type Draft<T extends KeyEventType | 'ReadingsSealed' | 'ReadingsFenced'> = {
  [K in T]: Omit<NewEvent<K>, 'recordedAt'>
}[T]

export type CheckAnswer = Outcome<Checked, ReadingRefusal>

type Place = { readonly revision: number; readonly position: number }

const beginning: Place = { revision: 0, position: -1 }

/**
 * The state of one key, folded from its two streams. It can be behind the newest revisions that this node has heard of.
 * Then `catchUp` reads the missing events.
 */
export class KeyStreams {
  readonly #keyId: string
  readonly readingsStream: string
  key: KeyState | null = null
  readings: ReadingsState = noReadings(keyLimitDefault.windowMs)
  limit: Limit = keyLimitDefault
  /** The highest revisions that an event or a conflict has named. The state must contain them before an append. */
  #readingsSeen = -1
  #keySeen = -1
  #isLoaded = false
  /**
   * When the window's readings were counted, in ms. Before this time the count would be too low, so the state is loaded
   * again.
   */
  #countedAtMs = 0
  /**
   * From here on, this actor has passed the idempotency keys of its readings to `context.repeats`. The index has those of
   * older readings.
   */
  #repeatsReadFrom: Place = beginning
  #keyRecordedAt = 0
  #limitsEpoch = -1
  /** A page waits to show the use of the rate window. An append would show outdated news by a conflict. */
  #mustReadNews = false
  #readForUsageBeat = Number.NEGATIVE_INFINITY
  readonly #context: ActorContext

  constructor(keyId: string, context: ActorContext) {
    this.#keyId = keyId
    this.readingsStream = readingsStream(keyId)
    this.#context = context
  }

  /**
   * True if the state is loaded, and no wrong clock has moved the rate window too far ahead. After false, `catchUp` loads
   * the state again.
   */
  checkLoaded(): boolean {
    if (this.#limitsEpoch !== this.#context.limitsEpoch) this.#refreshLimit()
    // If the clock was ahead and went back, the window stays at the later time. New readings would get that time, and the
    // key could seem expired.
    const reachedMs = Math.max(this.#context.clock.now(), this.readings.recordedAt)
    if (reachedMs < this.#countedAtMs || reachedMs < this.readings.window.reservedAtMs) this.#isLoaded = false
    return this.#isLoaded
  }

  /**
   * The state holds every event that this node knows to be in the log. If false, `catchUp` must run before the next append.
   */
  checkCurrent(): boolean {
    return this.checkLoaded() && !this.#areReadingsBehind && !this.#isKeyBehind
  }

  /**
   * True if `checkCurrent` is true and this node has heard of no other nodes' readings: for a check, no conflict would show
   * them. Do not ask during an append: this node could have heard of its own readings.
   */
  checkNews(): boolean {
    const heard = this.key === null ? null : this.#context.projections.readings.usage(this.key.keyId)
    this.#readingsSeen = Math.max(this.#readingsSeen, heard?.last.revision ?? -1)
    return this.checkCurrent()
  }

  get keyStream(): string {
    return keyStream(this.#keyId)
  }

  get knowsAllRepeats(): boolean {
    return this.#context.repeats.foldedTo >= this.#repeatsReadFrom.position
  }

  /** The time of the next reading, in ms. Times in a stream never decrease. */
  get now(): number {
    return this.#nowAt(this.#context.clock.now())
  }

  #nowAt(clockMs: number): number {
    return Math.max(clockMs, this.readings.recordedAt, this.readings.window.latestMs)
  }

  get usage(): Usage | null {
    const { key, limit } = this
    if (key === null) return null
    const clockMs = this.#context.clock.now()
    const now = this.#nowAt(clockMs)
    const { window } = this.readings
    const used = window.used(now)
    const retryAfterMs = used < limit.readings ? 0 : window.retryAfterMs(now, limit.readings)
    const aheadMs = now - clockMs
    return {
      limit,
      used,
      resetMs: this.#untilMs(window.resetMs(now), aheadMs),
      retryAfterMs: this.#untilMs(retryAfterMs, aheadMs),
    }
  }

  /** After a wrong clock was set back, the key's time stands still until the clock has reached it. */
  #untilMs(windowMs: number, aheadMs: number): number {
    return windowMs === 0 ? 0 : windowMs + aheadMs
  }

  /** `null`: this number fits at `now`, the time of this key. Reserves nothing. The state must be loaded. */
  refusalOf(readings: number, now: number): ReadingRefusal | null {
    const { key, limit } = this
    const refusal = admit(key, this.readings, { limit, now, readings })
    if (refusal?.kind !== 'rate_limited') return refusal
    return { ...refusal, retryAfterMs: this.#untilMs(refusal.retryAfterMs, this.now - this.#context.clock.now()) }
  }

  /** Reserves nothing. The state must be loaded. */
  check(readings: number): CheckAnswer {
    const { now, usage } = this
    const refusal = this.refusalOf(readings, now)
    if (refusal !== null) return refused(refusal)
    if (usage === null) throw new Error(`Cannot check readings of "${this.readingsStream}": its key is not known`)
    return done({ recordedAt: now, usage })
  }

  get #areReadingsBehind(): boolean {
    return this.#readingsSeen > (this.readings.revision ?? -1)
  }

  get #isKeyBehind(): boolean {
    const revision = this.key?.revision ?? -1
    return this.#keySeen > revision || this.readings.fencedAt > revision
  }

  /** True if a page must wait for `catchUp`. True at most once in `usageCatchUpMs`, so that pages cause few reads. */
  orderNews(heardTo: number): boolean {
    if (heardTo <= (this.readings.revision ?? -1)) return false
    if (this.#context.beat - this.#readForUsageBeat < usageCatchUpMs / heartbeatMs) return false
    this.#readForUsageBeat = this.#context.beat
    this.#mustReadNews = true
    return true
  }

  forget(): void {
    this.#isLoaded = false
  }

  async catchUp(): Promise<void> {
    if (!this.checkLoaded()) await this.#load()
    const mustReadNews = this.#areReadingsBehind || this.#mustReadNews
    this.#mustReadNews = false
    if (mustReadNews) await this.#readReadings()
    if (this.#isKeyBehind) await this.readKey()
  }

  /**
   * `#load` reads only the newest readings. While the index lacks the idempotency keys of older readings, a repeat cannot
   * be told from a new request.
   */
  async readOlderRepeats(): Promise<void> {
    const { repeats, log } = this.#context
    for (let pages = 0; pages < repeatsGapPagesMax; pages += 1) {
      if (repeats.foldedTo < 0 || this.knowsAllRepeats) return
      const from = this.#repeatsReadFrom.revision - 1
      const page = await log.read(this.readingsStream, { direction: 'backwards', from, limit: readPageEventsMax })
      repeats.learn(page)
      this.#noteRepeatsRead(page.length < readPageEventsMax ? undefined : page.at(-1))
    }
  }

  async readNews(): Promise<void> {
    if (this.#isLoaded) await this.#readReadings()
  }

  /**
   * Two conflicts load the state again. `null`: the stream no longer exists. A revision lower than this node's: the store
   * was restored from an older backup.
   */
  noteConflict(currentRevision: number | null): void {
    if (currentRevision === null || currentRevision < (this.readings.revision ?? -1)) this.forget()
    else this.#readingsSeen = Math.max(this.#readingsSeen, currentRevision)
  }

  hear(event: RecordedEvent): 'key_changed' | 'nothing_new' {
    if (event.stream === this.readingsStream) {
      this.#readingsSeen = Math.max(this.#readingsSeen, event.revision)
      return 'nothing_new'
    }
    if (event.revision <= (this.key?.revision ?? -1)) return 'nothing_new'
    if (this.#isLoaded && event.revision === (this.key?.revision ?? -1) + 1) this.#foldKey([event])
    else this.#keySeen = Math.max(this.#keySeen, event.revision)
    return 'key_changed'
  }

  /** After a conflict, folds the other nodes' events, so that the caller can decide again. */
  async appendToKey(draft: Draft<KeyEventType>, options: AppendOptions): Promise<AppendResult> {
    const recordedAt = Math.max(this.#context.clock.now(), this.#keyRecordedAt)
    const append = {
      stream: this.keyStream,
      expected: this.key === null ? ('none' as const) : this.key.revision,
      events: [{ ...draft, recordedAt }],
    }
    const result = await appendUntilKnown(this.#context, append, options)
    if (result.outcome === 'conflict') await this.readKey()
    else this.#foldKey(result.events)
    return result
  }

  foldReadings(events: readonly RecordedEvent[]): void {
    this.#context.repeats.learn(events)
    for (const event of events) foldReadings(this.readings, narrowTo('readings', event))
  }

  /**
   * Stops admitting readings. The seal is not folded: that would skip the events before it, which this node may not have
   * read.
   */
  noteSeal(seal: RecordedEvent<'ReadingsSealed'>): void {
    this.readings.sealed = seal
  }

  appendToReadings(
    draft: Draft<'ReadingsSealed' | 'ReadingsFenced'>,
    options: AppendOptions & { readonly expected: ExpectedRevision },
  ): Promise<AppendResult> {
    const events = [{ ...draft, recordedAt: this.now }]
    return appendUntilKnown(this.#context, { stream: this.readingsStream, expected: options.expected, events }, options)
  }

  /**
   * The readings stream is read first. A fence is written after its key event. So if this read finds a fence, `readKey`
   * finds its key event. In the other order, this node could admit readings by an old right. A later fence makes the next
   * append fail.
   */
  async #load(): Promise<void> {
    // If a read below fails, only half of the state is loaded.
    this.#isLoaded = false
    // A server of the store can name a revision and lose it when it dies. Waiting for it would block the key.
    this.#readingsSeen = -1
    this.#keySeen = -1
    const tail = await readTail(this.#context.log, this.readingsStream)
    this.key = null
    this.#keyRecordedAt = 0
    await this.readKey()
    this.limit = this.#effectiveLimit()
    const now = this.#context.clock.now()
    this.readings = await loadReadings(this.#context.log, tail, { limit: this.limit, now })
    this.#countedAtMs = now
    this.#context.repeats.learn(tail)
    this.#noteRepeatsRead(tail[0])
    this.#isLoaded = true
    this.#refreshLimit()
  }

  #noteRepeatsRead(oldest: RecordedEvent | undefined): void {
    const isAll = oldest === undefined || oldest.revision === 0 || this.#context.repeats.isPast(oldest)
    // Two numbers are kept, because the event itself would stay in memory as long as the actor.
    this.#repeatsReadFrom = isAll ? beginning : { revision: oldest.revision, position: oldest.position }
  }

  async #readReadings(): Promise<void> {
    const first = (this.readings.revision ?? -1) + 1
    if (this.#readingsSeen - first + 1 >= catchUpPagesMax * readPageEventsMax) return this.#load()
    let isGone = false
    const from = { stream: this.readingsStream, revision: first, pagesMax: catchUpPagesMax }
    const isAll = await readFrom(this.#context.log, from, (events) => {
      isGone ||= (events[0]?.revision ?? 0) > (this.readings.revision ?? -1) + 1
      if (!isGone) this.foldReadings(events)
    })
    // The next events were purged, or are too many to fold one by one.
    if (isGone || !isAll) return this.#load()
    // A stream with purged events can read as empty. Then its revision is known only from a conflict.
    if (this.readings.revision === null && this.#readingsSeen >= 0) this.readings.revision = this.#readingsSeen
    if (this.#areReadingsBehind) throw this.#notShown(this.readingsStream, this.#readingsSeen)
  }

  async readKey(): Promise<void> {
    const revision = this.key === null ? 0 : this.key.revision + 1
    await readFrom(this.#context.log, { stream: this.keyStream, revision }, (events) => this.#foldKey(events))
    if (this.#isLoaded && this.#isKeyBehind) {
      throw this.#notShown(this.keyStream, Math.max(this.#keySeen, this.readings.fencedAt))
    }
  }

  #notShown(stream: string, revision: number): Outage {
    this.forget()
    const why = `the store named revision ${revision} and does not show it`
    return new Outage(`Cannot read "${stream}": ${why}`, 'not_written', 'unavailable')
  }

  #foldKey(events: readonly RecordedEvent[]): void {
    for (const event of events) {
      if (this.key !== null && event.revision <= this.key.revision) continue
      this.key = evolveKey(this.key, narrowTo('key', event))
      this.#keyRecordedAt = event.recordedAt
    }
    this.#context.projections.fold(events)
    this.#shareKey()
    if (this.#isLoaded) this.#refreshLimit()
  }

  /** Takes the equal object of the projections, so that memory holds the state only once. */
  #shareKey(): void {
    const shared = this.key === null ? null : this.#context.projections.keys.get(this.key.keyId)
    if (shared !== null && shared.revision === this.key?.revision) this.key = shared
  }

  /** With another length of the window, the readings must be counted again from the log. */
  #refreshLimit(): void {
    this.limit = this.#effectiveLimit()
    if (this.limit.windowMs !== this.readings.window.windowMs) this.#isLoaded = false
  }

  #effectiveLimit(): Limit {
    this.#limitsEpoch = this.#context.limitsEpoch
    return this.key === null ? keyLimitDefault : this.#context.projections.keys.effectiveLimit(this.key)
  }
}

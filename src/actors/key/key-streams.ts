import type { Limit, NewEvent, RecordedEvent } from '../../domain/events.ts'
import { evolveKey, type KeyEventType, type KeyState } from '../../domain/key.ts'
import { foldReadings, noReadings, type ReadingsState } from '../../domain/reading/admission.ts'
import { keyStream, readingsStream } from '../../domain/stream-names.ts'
import { catchUpPagesMax, heartbeatMs, keyLimitDefault, readPageEventsMax, usageCatchUpMs } from '../../limits.ts'
import { type AppendResult, type ExpectedRevision, Outage } from '../../log/event-log.ts'
import type { Usage } from '../core.ts'
import type { Host } from '../host.ts'
import { type AppendOptions, appendUntilKnown } from '../stream/append-until-known.ts'
import { readFrom } from '../stream/read-stream.ts'
import { keyEvent } from './key-events.ts'
import { loadReadings, readingsEvent, readTail } from './load-readings.ts'

/** What an event needs besides its time, which it is given when it is appended. */
export type Draft<T extends KeyEventType | 'ReadingsSealed' | 'ReadingsFenced'> = {
  [K in T]: Omit<NewEvent<K>, 'recordedAt'>
}[T]

type Place = { readonly revision: number; readonly position: number }

const beginning: Place = { revision: 0, position: -1 }

/**
 * The two streams of one key as one node knows them: what is folded of each, and what is known to be missing. One owner,
 * the key's actor, which never has two appends to the readings stream out at once.
 */
export class KeyStreams {
  readonly keyStream: string
  readonly readingsStream: string
  key: KeyState | null = null
  readings: ReadingsState = noReadings(keyLimitDefault.windowMs)
  limit: Limit = keyLimitDefault
  /** The highest revisions that were heard of or met; a state that is not there yet is not to be decided on. */
  #readingsSeen = -1
  #keySeen = -1
  #loaded = false
  /** By this time the window was counted, ms: it lacks what had left by then. */
  #countedAtMs = 0
  /** The oldest event of the readings whose `Idempotency-Key` was looked for here. */
  #recalledFrom: Place = beginning
  #keyRecordedAt = 0
  #limitsEpoch = -1
  /** A page has asked for what others have written, which appends meet by themselves. */
  #mustReadNews = false
  #readForUsageBeat = Number.NEGATIVE_INFINITY
  readonly #host: Host

  constructor(keyId: string, host: Host) {
    this.keyStream = keyStream(keyId)
    this.readingsStream = readingsStream(keyId)
    this.#host = host
  }

  get loaded(): boolean {
    if (this.#limitsEpoch !== this.#host.limitsEpoch) this.#refreshLimit()
    // A clock that was ahead and is back must not close the key until that time has come, nor have its readings dated by it:
    // neither for what was counted then, nor for what was admitted and never written.
    const reachedMs = Math.max(this.#host.clock.now(), this.readings.recordedAt)
    if (reachedMs < this.#countedAtMs || reachedMs < this.readings.window.reservedAtMs) this.#loaded = false
    return this.#loaded
  }

  /** Everything known to be in the log is folded, so that an append may be decided on it. */
  get current(): boolean {
    return this.loaded && !this.#readingsBehind && !this.#keyBehind
  }

  /** Every `Idempotency-Key` up to the revision folded here is known to this node. */
  get remembersAll(): boolean {
    return (this.#host.remembered?.foldedTo ?? -1) >= this.#recalledFrom.position
  }

  /** Now, in ms, but never before the last event of the readings stream, nor before a time by which its window let go. */
  get now(): number {
    return Math.max(this.#host.clock.now(), this.readings.recordedAt, this.readings.window.latestMs)
  }

  /** The window as it is now; `null` if there is no such key. */
  get usage(): Usage | null {
    const { key, limit, now } = this
    if (key === null) return null
    const { window } = this.readings
    const retryAfterMs = window.retryAfterMs(now, limit.readings)
    return { limit, used: window.used(now), resetMs: window.resetMs(now), retryAfterMs }
  }

  get #readingsBehind(): boolean {
    return this.#readingsSeen > (this.readings.revision ?? -1)
  }

  get #keyBehind(): boolean {
    const revision = this.key?.revision ?? -1
    return this.#keySeen > revision || this.readings.fencedAt > revision
  }

  /** Whether `bringUp` has to come before a page is told the window: another node has written, and that was not just read. */
  isBehindForUsage(heardTo: number): boolean {
    if (heardTo <= (this.readings.revision ?? -1)) return false
    if (this.#host.beat - this.#readForUsageBeat < usageCatchUpMs / heartbeatMs) return false
    this.#readForUsageBeat = this.#host.beat
    this.#mustReadNews = true
    return true
  }

  /** What is folded is not to be trusted: the next `bringUp` folds it anew from the log. */
  forget(): void {
    this.#loaded = false
  }

  /** Reads what is missing: everything, or only the news. */
  async bringUp(): Promise<void> {
    if (!this.loaded) await this.#load()
    const mustReadNews = this.#readingsBehind || this.#mustReadNews
    this.#mustReadNews = false
    if (mustReadNews) await this.#readReadings()
    if (this.#keyBehind) await this.readKey()
  }

  /** Looks for `Idempotency-Key`s that neither the subscription has delivered nor the load has read. */
  async recall(): Promise<void> {
    const { remembered, log } = this.#host
    while (remembered !== null && remembered.foldedTo >= 0 && !this.remembersAll) {
      const from = this.#recalledFrom.revision - 1
      const page = await log.read(this.readingsStream, { direction: 'backwards', from, limit: readPageEventsMax })
      remembered.learn(page)
      this.#recallFrom(page.length < readPageEventsMax ? undefined : page.at(-1))
    }
  }

  /** Reads and folds what others have written to the readings, heard of or not. */
  async readNews(): Promise<void> {
    if (this.#loaded) await this.#readReadings()
  }

  /**
   * A conflict in the readings stream named that revision as its last; `null`: there is no such stream any more. One below
   * what is folded is of a store that was put back from an earlier copy: trying again behind what it lost would never end.
   */
  meet(currentRevision: number | null): void {
    if (currentRevision === null || currentRevision < (this.readings.revision ?? -1)) this.forget()
    else this.#readingsSeen = Math.max(this.#readingsSeen, currentRevision)
  }

  /**
   * An event of either stream that the subscription delivered, of this node or another. `key_changed`: another has written
   * it to the key's.
   */
  hear(event: RecordedEvent): 'key_changed' | 'nothing_new' {
    if (event.stream === this.readingsStream) {
      this.#readingsSeen = Math.max(this.#readingsSeen, event.revision)
      return 'nothing_new'
    }
    if (event.revision <= (this.key?.revision ?? -1)) return 'nothing_new'
    if (this.#loaded && event.revision === (this.key?.revision ?? -1) + 1) this.#foldKey([event])
    else this.#keySeen = Math.max(this.#keySeen, event.revision)
    return 'key_changed'
  }

  /** Appends to the key's stream at the revision folded here, and folds what was written or what was met instead. */
  async appendToKey(draft: Draft<KeyEventType>, options: AppendOptions): Promise<AppendResult> {
    const recordedAt = Math.max(this.#host.clock.now(), this.#keyRecordedAt)
    const append = {
      stream: this.keyStream,
      expected: this.key === null ? ('none' as const) : this.key.revision,
      events: [{ ...draft, recordedAt }],
    }
    const result = await appendUntilKnown(this.#host, append, options)
    if (result.outcome === 'conflict') await this.readKey()
    else this.#foldKey(result.events)
    return result
  }

  /** Folds what this node has written to its readings, or read there. */
  foldReadings(events: readonly RecordedEvent[]): void {
    this.#host.remembered?.learn(events)
    for (const event of events) foldReadings(this.readings, readingsEvent(event))
  }

  /** Appends a seal or a fence at that revision, and folds nothing. */
  appendToReadings(
    draft: Draft<'ReadingsSealed' | 'ReadingsFenced'>,
    options: AppendOptions & { readonly expected: ExpectedRevision },
  ): Promise<AppendResult> {
    const events = [{ ...draft, recordedAt: this.now }]
    return appendUntilKnown(this.#host, { stream: this.readingsStream, expected: options.expected, events }, options)
  }

  /**
   * The end of the readings first, then the whole of the key's stream. In this order no fence can be missed, however far
   * back it lies: it was written after the key's event that it stands for, so one that lies before the end seen here
   * stands for an event that the second read finds; and one after that end is met as a conflict.
   */
  async #load(): Promise<void> {
    // A read that fails leaves half of it, and nobody may be judged by that.
    this.#loaded = false
    // What a store has named and lost, with a leader that died, would be waited for for ever.
    this.#readingsSeen = -1
    this.#keySeen = -1
    const tail = await readTail(this.#host.log, this.readingsStream)
    this.key = null
    this.#keyRecordedAt = 0
    await this.readKey()
    this.limit = this.#effectiveLimit()
    const now = this.#host.clock.now()
    this.readings = await loadReadings(this.#host.log, tail, { windowMs: this.limit.windowMs, now })
    this.#countedAtMs = now
    this.#host.remembered?.learn(tail)
    this.#recallFrom(tail[0])
    this.#loaded = true
    this.#refreshLimit()
  }

  /** What lies before `oldest` has still to be looked at, unless it is the first or nothing before it counts. */
  #recallFrom(oldest: RecordedEvent | undefined): void {
    const isAll = oldest === undefined || oldest.revision === 0 || this.#host.remembered?.isPast(oldest) === true
    // The place alone: the event itself would stay in memory as long as the actor.
    this.#recalledFrom = isAll ? beginning : { revision: oldest.revision, position: oldest.position }
  }

  async #readReadings(): Promise<void> {
    const first = (this.readings.revision ?? -1) + 1
    if (this.#readingsSeen - first + 1 >= catchUpPagesMax * readPageEventsMax) return this.#load()
    let isGone = false
    const from = { stream: this.readingsStream, revision: first, pagesMax: catchUpPagesMax }
    const isAll = await readFrom(this.#host.log, from, (events) => {
      isGone ||= (events[0]?.revision ?? 0) > (this.readings.revision ?? -1) + 1
      if (!isGone) this.foldReadings(events)
    })
    // So far behind that it would be read for seconds, or that some of what is missing was purged: it is all counted anew.
    if (isGone || !isAll) return this.#load()
    // A stream whose readings were all purged reads as empty: its revision is the one that the conflict named.
    if (this.readings.revision === null && this.#readingsSeen >= 0) this.readings.revision = this.#readingsSeen
    if (this.#readingsBehind) throw this.#notShown(this.readingsStream, this.#readingsSeen)
  }

  /** Reads and folds what is new in the key's stream. */
  async readKey(): Promise<void> {
    const revision = this.key === null ? 0 : this.key.revision + 1
    await readFrom(this.#host.log, { stream: this.keyStream, revision }, (events) => this.#foldKey(events))
    if (this.#loaded && this.#keyBehind) {
      throw this.#notShown(this.keyStream, Math.max(this.#keySeen, this.readings.fencedAt))
    }
  }

  /** The next ask folds both streams anew, whatever was named before. */
  #notShown(stream: string, revision: number): Outage {
    this.forget()
    const why = `revision ${revision}, which it has named, is not shown`
    return new Outage(`Cannot read "${stream}": ${why}`, 'not_written', 'unavailable')
  }

  #foldKey(events: readonly RecordedEvent[]): void {
    for (const event of events) {
      if (this.key !== null && event.revision <= this.key.revision) continue
      this.key = evolveKey(this.key, keyEvent(event))
      this.#keyRecordedAt = event.recordedAt
    }
    this.#host.projections.fold(events)
    this.#shareKey()
    if (this.#loaded) this.#refreshLimit()
  }

  /** The directory folds the same events, and one state of each key is enough in memory. */
  #shareKey(): void {
    const shared = this.key === null ? null : this.#host.projections.keys.get(this.key.keyId)
    if (shared !== null && shared.revision === this.key?.revision) this.key = shared
  }

  /** A window of another length is counted from the log again. */
  #refreshLimit(): void {
    this.limit = this.#effectiveLimit()
    if (this.limit.windowMs !== this.readings.window.windowMs) this.#loaded = false
  }

  #effectiveLimit(): Limit {
    this.#limitsEpoch = this.#host.limitsEpoch
    return this.key === null ? keyLimitDefault : this.#host.projections.keys.effectiveLimit(this.key)
  }
}

/**
 * Keeps `ask.db` up to date. While the node follows, it folds the items that the subscription delivers. At the start, the node
 * reads the log slowly from the last event in the index on, and ignores the delivered items. It does the same after it has fallen
 * behind.
 *
 * It passes from one to the other without a gap. Near the end of the log it keeps the delivered items, and goes on reading up to
 * the last item before those. Then it folds the kept items, and follows.
 */
import type { MachineClock } from '../../clock.ts'
import type { RecordedEvent } from '../../domain/events.ts'
import { eventsOfItems, type LogItem, lastPositionOf } from '../../domain/reading/recorded-run.ts'
import {
  askAnewPauseMsMax,
  askEntriesAtOnce,
  askEntriesMax,
  askKeptEventsMax,
  askRestFactor,
  askRetryPauseMs,
  askStopMsMax,
  askWriteEveryMs,
  checkDelayMs,
  checkEveryMs,
  heartbeatMs,
  logReadPageEvents,
} from '../../limits.ts'
import { AskBusy, type AskIndex, AskUnusable } from '../../log/ask-index.ts'
import { Outage, UndecodableEvent } from '../../log/event-log.ts'
import type { AskProgress } from '../core.ts'
import type { Host } from '../host.ts'
import { foldedEvent } from '../stream/folded-event.ts'
import { AskFold } from './ask-fold.ts'

/** `why` is `null` when the trouble is over. Each trouble is told once. */
export type AskTold = { readonly why: string | null }

export type AskParts = {
  readonly index: AskIndex
  readonly onTold?: (told: AskTold) => void
}

/** Items that were delivered after the position `after`, while the log was read up to there. */
type Kept = { readonly after: number; readonly events: RecordedEvent[] }

export class AskFollower {
  readonly #host: Host
  readonly #index: AskIndex
  readonly #onTold: (told: AskTold) => void
  readonly #passedMs: MachineClock['passedMs']
  readonly #fold: AskFold
  /** True while delivered items are folded at once. */
  #isFollowing = false
  /** All events up to this position were delivered, or were in the node's checkpoint. -1: none. */
  #deliveredTo = -1
  #kept: Kept | null = null
  /** How often the index was lost, or the node fell behind. If it changes while the log is read, reading begins again. */
  #losses = 0
  #mustStartAnew = false
  #anewPauseMs = 0
  #isVerified = false
  #isCatchingUp = false
  #writing: Promise<void> | null = null
  #writtenBeat = 0
  #trouble: string | null = null
  #isStopped = false
  #forgetCheck = (): void => {}

  constructor(host: Host, { index, onTold = () => {} }: AskParts, { passedMs }: Pick<MachineClock, 'passedMs'>) {
    this.#host = host
    this.#index = index
    this.#onTold = onTold
    this.#passedMs = passedMs
    const { keys, cellars } = host.projections
    this.#fold = new AskFold({
      ofKey: (keyId) => keys.get(keyId)?.cellar ?? null,
      ofStream: (stream) => cellars.ofStream(stream)?.cellar ?? null,
    })
  }

  get progress(): AskProgress {
    const position = this.#index.foldedTo?.position ?? null
    return { position, isBehind: !this.#isFollowing, trouble: this.#trouble }
  }

  /** The subscription delivers only events after this position, because the checkpoint has the others. */
  begin(after: number | null): void {
    this.#deliveredTo = after ?? -1
  }

  /** Call it when the projections have folded the items. It never throws: a bug here must not end the node. */
  receive(items: readonly LogItem[]): void {
    const last = items.at(-1)
    if (last === undefined || lastPositionOf(last) <= this.#deliveredTo) return
    this.#deliveredTo = lastPositionOf(last)
    try {
      if (this.#isFollowing) this.#follow(items)
      else this.#keep(items)
    } catch (bug) {
      this.#giveUp(bug)
    }
  }

  /** Call it when the start's events were delivered. */
  caughtUp(): void {
    this.#startCatchingUp()
    this.#checkAfter(checkDelayMs)
  }

  onBeat(): void {
    if (this.#host.beat - this.#writtenBeat >= askWriteEveryMs / heartbeatMs) this.#writeSoon()
  }

  /** Writes what waits, so that the next query has it. Gives up after a while if the disk is slow. */
  async bringUp(): Promise<void> {
    if (!this.#isFollowing || this.#trouble !== null) return
    const written = async (): Promise<void> => {
      await this.#writing
      await this.#write()
    }
    await Promise.race([written(), this.#host.pause(askRetryPauseMs)])
  }

  /** Runs a query. If it finds damage, the index is built again. @throws AskUnusable */
  query<T>(ask: (index: AskIndex) => T): T {
    try {
      return ask(this.#index)
    } catch (fault) {
      if (fault instanceof AskUnusable) this.#lose(fault)
      throw fault
    }
  }

  /** What is not written within `askStopMsMax` is read from the log at the next start. */
  async stop(): Promise<void> {
    this.#forgetCheck()
    const written = async (): Promise<void> => {
      await this.#writing
      await this.#write()
    }
    await Promise.race([written(), this.#host.pause(askStopMsMax)])
    this.#isStopped = true
    this.#isFollowing = false
  }

  #follow(items: readonly LogItem[]): void {
    this.#fold.fold(items)
    if (this.#fold.entries < askEntriesAtOnce) return
    if (this.#writing === null) this.#writeSoon()
    else if (this.#fold.entries >= askEntriesMax) this.#fallBehind()
  }

  #keep(items: readonly LogItem[]): void {
    if (this.#kept === null) return
    for (const event of eventsOfItems(items)) this.#kept.events.push(event)
    if (this.#kept.events.length > askKeptEventsMax) this.#kept = null
  }

  /** The disk is too slow. The log has all events, so they are read from there when the change under way is written. */
  #fallBehind(): void {
    this.#losses += 1
    this.#isFollowing = false
    this.#kept = null
    this.#fold.drop()
    this.#startCatchingUp()
  }

  #lose(fault: AskUnusable): void {
    // At the end, the file is closed even if a change is still under way.
    if (this.#isStopped) return
    this.#tell(fault.message)
    this.#mustStartAnew = true
    this.#fallBehind()
  }

  #giveUp(bug: unknown): void {
    this.#losses += 1
    this.#isStopped = true
    this.#isFollowing = false
    this.#tell('A bug has stopped it')
    this.#host.onBug(bug)
  }

  #tell(why: string | null): void {
    if ((why === null) !== (this.#trouble === null)) this.#onTold({ why })
    this.#trouble = why
  }

  #writeSoon(): void {
    if (!this.#isStopped) void this.#write()
  }

  /** Only one change is written at a time. Resolves when it is written, or lost. Never rejects. */
  #write(): Promise<void> {
    this.#writing ??= this.#writeChange()
      .catch((bug: unknown) => this.#giveUp(bug))
      .finally(() => {
        this.#writing = null
      })
    return this.#writing
  }

  async #writeChange(): Promise<void> {
    const { beat, clock } = this.#host
    this.#writtenBeat = beat
    const change = this.#fold.take(clock.now())
    if (change === null) return
    while (!this.#mustStartAnew) {
      try {
        await this.#index.write(change)
        this.#tell(null)
        return
      } catch (fault) {
        if (fault instanceof AskUnusable) this.#lose(fault)
        else if (!(fault instanceof AskBusy)) throw fault
        else this.#tell(fault.message)
      }
      if (this.#host.isStopping) {
        // Later changes would not continue the index without this one.
        this.#fallBehind()
        return
      }
      await this.#host.pause(askRetryPauseMs)
    }
  }

  #startCatchingUp(): void {
    if (this.#isCatchingUp || this.#isStopped) return
    this.#isCatchingUp = true
    this.#catchUp().catch((bug: unknown) => this.#giveUp(bug))
  }

  async #catchUp(): Promise<void> {
    while (!this.#isStopped && !this.#isFollowing) {
      try {
        await this.#writing
        if (this.#mustStartAnew) await this.#restBeforeAnew()
        if (this.#isStopped) break
        await this.#makeUsable()
        this.#kept = null
        await this.#readOn()
        continue
      } catch (fault) {
        if (fault instanceof AskUnusable) this.#mustStartAnew = true
        // An event that cannot be decoded is no bug here, because `stream/follow.ts` reports it.
        else if (![Outage, UndecodableEvent, AskBusy].some((known) => fault instanceof known)) throw fault
        this.#tell(fault instanceof Error ? fault.message : null)
      }
      await this.#host.pause(askRetryPauseMs)
    }
    // Not in `finally`, which runs later: a fault in between would find nobody who reads the log again.
    this.#isCatchingUp = false
  }

  /** Only the first time without a rest. A disk that fails, or a bug, can spoil each new index: that must not take a core for ever. */
  async #restBeforeAnew(): Promise<void> {
    const pauseMs = this.#anewPauseMs
    this.#anewPauseMs = Math.min(Math.max(askRetryPauseMs, 2 * pauseMs), askAnewPauseMsMax)
    if (pauseMs > 0) await this.#host.pause(pauseMs)
  }

  /** Empties the index if it is damaged, or if the log does not have its last event. Then it is of another log, or too old. */
  async #makeUsable(): Promise<void> {
    await this.#index.open()
    const { foldedTo } = this.#index
    if (!this.#mustStartAnew && !this.#isVerified && foldedTo !== null) {
      const found = await foldedEvent(this.#host.log, foldedTo)
      this.#mustStartAnew = found === null || found === 'purged'
    }
    if (this.#mustStartAnew) await this.#index.startAnew()
    this.#mustStartAnew = false
    this.#isVerified = true
  }

  /** Reads the log until the node follows, or until the index is lost. */
  async #readOn(): Promise<void> {
    const losses = this.#losses
    const fold = this.#fold
    const { foldedTo } = this.#index
    const lastMinute = this.query((index) => index.positionOfMinute(Number.MAX_SAFE_INTEGER))?.minute ?? -1
    fold.begin(foldedTo, lastMinute, this.#host.clock.now())
    while (!this.#isStopped && losses === this.#losses) {
      const startMs = this.#passedMs()
      const kept = this.#kept
      const page = await this.#readPage(fold.position)
      // From here to the end of this turn nothing is delivered, so no event can come between reading and following.
      if (losses !== this.#losses) return
      const upTo = kept?.after ?? this.#deliveredTo
      const known = page.filter(({ position }) => position <= upTo)
      fold.fold(known)
      const isThere = known.length < page.length || page.length < logReadPageEvents || (fold.position ?? -1) >= upTo
      if (isThere && this.#join(kept)) return
      while (fold.entries >= askEntriesAtOnce && losses === this.#losses) await this.#write()
      if (!isThere) await this.#host.pause(Math.max(1, askRestFactor * (this.#passedMs() - startMs)))
    }
  }

  #readPage(from: number | null): Promise<readonly RecordedEvent[]> {
    return this.#host.log.readAll({ ...(from === null ? {} : { from }), limit: logReadPageEvents })
  }

  /**
   * Follows, if all events up to the kept ones are folded. Otherwise keeps what is delivered from now on, and returns false. A
   * read that began earlier can miss an event that was delivered meanwhile.
   */
  #join(kept: Kept | null): boolean {
    if (this.#deliveredTo > (this.#fold.position ?? -1)) {
      if (kept === null || kept !== this.#kept) {
        this.#kept = { after: this.#deliveredTo, events: [] }
        return false
      }
      this.#fold.fold(kept.events)
    }
    this.#kept = null
    this.#isFollowing = true
    this.#tell(null)
    if (this.#fold.entries >= askEntriesAtOnce) this.#writeSoon()
    return true
  }

  #checkAfter(ms: number): void {
    this.#forgetCheck = this.#host.schedule.after(ms, () => {
      this.#checkAfter(checkEveryMs)
      this.#check().catch((bug: unknown) => this.#giveUp(bug))
    })
  }

  /** If the check empties the index, the next change does not continue it, and is refused as `AskUnusable`. */
  async #check(): Promise<void> {
    const wasEmpty = this.#index.foldedTo === null
    try {
      await this.#index.check()
      this.#anewPauseMs = 0
      if (!wasEmpty && this.#index.foldedTo === null) this.#fallBehind()
    } catch (fault) {
      if (fault instanceof AskUnusable) this.#lose(fault)
      else if (!(fault instanceof AskBusy)) throw fault
    }
  }
}

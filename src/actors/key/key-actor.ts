import type { By } from '../../domain/events.ts'
import type { KeyState } from '../../domain/key.ts'
import { admit, foldRun, refusalOfKey } from '../../domain/reading/admission.ts'
import { isBatch, type Readings } from '../../domain/reading/reading.ts'
import { type CommandRefusal, done, type Outcome, type ReadingRefusal, refused } from '../../domain/refusal.ts'
import { appendBytesMax, appendReadingsMax, conflictRetriesMax, storeRetriesMax } from '../../limits.ts'
import { type AppendResult, Outage } from '../../log/event-log.ts'
import type { Asker, KeyedRequest, Usage } from '../core.ts'
import type { Host } from '../host.ts'
import { commandRefusalOf, readingRefusalOf } from '../outage-refusals.ts'
import { KeyedAsks } from '../repeats/waiting-repeats.ts'
import { retryPauseMs } from '../stream/append-until-known.ts'
import {
  type ChangeKey,
  changeKey,
  finishRevocation,
  type KeyWork,
  type NamedSuccessor,
  type RotateKey,
  revokeKey,
  rotateKey,
} from './change-key.ts'
import { KeyStreams } from './key-streams.ts'
import { type Appending, Mailbox, type ReadingAnswer, ReadingAsk } from './mailbox.ts'
import { acknowledge, type Run, readingEvents } from './reading-run.ts'
import { GivingWay } from './stream-sharing.ts'

type KeyAnswer = Promise<Outcome<KeyState, CommandRefusal>>

const storeUnavailable: ReadingRefusal = { kind: 'store_unavailable' }
const internalError: ReadingRefusal = { kind: 'internal_error' }
const overloaded: ReadingRefusal = { kind: 'overloaded' }
const runBounds = { readingsMax: appendReadingsMax, bytesMax: appendBytesMax }
const inProgress: ReadingRefusal = { kind: 'idempotency_in_progress' }
const nothing: Appending = { asks: [], places: 0 }

/**
 * One key on this node: the only writer of its two streams here, and never with two appends to its readings out at once.
 *
 * A request's readings take the straight way while the state is current: they are admitted and have their places in the
 * window before `accept` returns, leave with all others of their turn, and no async function runs for them. Everything else (loading,
 * commands, what others wrote) is worked on aside, and readings wait until then to be judged.
 */
export class KeyActor {
  /** Heartbeat of the last use: idle actors are evicted by it. */
  usedBeat = 0
  readonly #host: Host
  readonly #by: By
  readonly #streams: KeyStreams
  readonly #work: KeyWork
  readonly #mailbox = new Mailbox()
  readonly #givingWay: GivingWay
  readonly #keyed: KeyedAsks
  /** The append that is out, or waits to be tried again. */
  #run: Run | null = null
  /** Places in the window that readings in the mailbox have; those of the run come on top. */
  #placesOfWaiting = 0
  /** Some of the readings in the mailbox have not been judged. */
  #mustJudge = false
  #isAside = false
  #isFlushDue = false
  /** The store has left the outcome of a command open: no reading is taken until it says. */
  #isInDoubt = false
  #conflicts = 0
  #expiryNoticed: number | null = null
  #loading: { readonly beat: number; readonly promise: Promise<void>; readonly resolve: () => void } | null = null

  constructor(keyId: string, host: Host) {
    this.#host = host
    this.#by = { kind: 'key', keyId }
    this.#streams = new KeyStreams(keyId, host)
    this.#givingWay = new GivingWay(host, keyId, () => this.#advance())
    this.#keyed = new KeyedAsks(host, this.#streams)
    this.#work = { host, streams: this.#streams, onDoubt: () => this.#doubt() }
  }

  get isIdle(): boolean {
    return this.#run === null && !this.#isAside && !this.#isFlushDue && this.#mailbox.isEmpty
  }

  /** Never throws, and never waits longer than `requestWaitMsMax`. */
  accept(readings: Readings, requestId: string): Promise<ReadingAnswer> {
    try {
      const refusal = this.#refusal(readings)
      if (refusal !== null) return Promise.resolve(refused(refusal))
    } catch (bug) {
      return Promise.resolve(this.#forgetAfter(bug))
    }
    const ask = new ReadingAsk(readings, requestId, this.#host.beat)
    this.#mailbox.put(ask)
    this.#wake()
    return ask.answer
  }

  /** Likewise. A request with its key that is under way here, or stored something before, decides its answer. */
  acceptKeyed(readings: Readings, request: KeyedRequest): Promise<ReadingAnswer> {
    try {
      const answer = this.#answerKeyed(readings, request)
      if (answer !== null) return Promise.resolve(answer)
    } catch (bug) {
      return Promise.resolve(this.#forgetAfter(bug))
    }
    const ask = this.#keyed.begin(readings, request)
    this.#mailbox.put(ask)
    this.#wake()
    return ask.answer
  }

  knowsIdempotencyKey(keyHash: string): boolean {
    return this.#keyed.knows(keyHash, { isAppending: this.#run !== null })
  }

  /** At once if the key is loaded and not behind `heardTo`; `null` if there is no such key, or the store can't say. */
  usage(heardTo = -1): Usage | null | Promise<Usage | null> {
    // What this node is writing may be heard before it is answered.
    const isEnough = this.#streams.loaded && (this.#run !== null || !this.#streams.isBehindForUsage(heardTo))
    if (isEnough) return this.#streams.usage
    this.#loading ??= { ...Promise.withResolvers<void>(), beat: this.#host.beat }
    this.#wake()
    return this.#loading.promise.then(() => (this.#streams.loaded ? this.#streams.usage : null))
  }

  change(command: ChangeKey, asker: Asker): KeyAnswer {
    return this.#ask(() => changeKey(this.#work, command, asker))
  }

  rotate(command: RotateKey, asker: Asker): Promise<Outcome<NamedSuccessor, CommandRefusal>> {
    return this.#ask(() => rotateKey(this.#work, command, asker))
  }

  revoke(reason: string, asker: Asker): KeyAnswer {
    return this.#ask(() => revokeKey(this.#work, reason, asker))
  }

  /** Brings the state up, which finishes what another node, or an earlier life of this one, left half done. */
  mend(): Promise<Outcome<null, CommandRefusal>> {
    return this.#ask(async () => done(null))
  }

  hear(event: Parameters<KeyStreams['hear']>[0]): void {
    if (this.#streams.hear(event) === 'key_changed') this.#givingWay.toFence()
  }

  /** The end of a turn: what came in it goes out. */
  flush(): void {
    this.#isFlushDue = false
    this.#advance()
  }

  /** Answers everyone who came in that heartbeat or before, whatever becomes of their append. */
  answerOverdue(beat: number): void {
    const overdue = Math.min(this.#mailbox.answerOverdue(beat), this.#placesOfWaiting)
    this.#placesOfWaiting -= overdue
    this.#streams.readings.window.giveBack(overdue)
    for (const ask of this.#run?.asks ?? []) if (ask.beat <= beat) ask.settle(refused(storeUnavailable))
    if (this.#loading !== null && this.#loading.beat <= beat) this.#endLoading()
  }

  stop(): void {
    this.#mailbox.stop()
    for (const ask of this.#run?.asks ?? []) ask.settle(refused(storeUnavailable))
    this.#endLoading()
  }

  /** Why these can't be taken in; `null` if they have their places, or will be judged before they are appended. */
  #refusal(readings: Readings): ReadingRefusal | null {
    const full = this.#noRoomFor(readings)
    if (full !== null) return full
    this.#mustJudge ||= this.#isAside || !this.#streams.current
    return this.#mustJudge ? null : this.#admit(isBatch(readings) ? readings.length : 1)
  }

  #answerKeyed(readings: Readings, request: KeyedRequest): ReadingAnswer | null {
    if (this.#keyed.isUnderWay(request.idempotency.keyHash, { isAppending: this.#run !== null }))
      return refused(inProgress)
    const full = this.#noRoomFor(readings)
    if (full !== null) return refused(full)
    this.#mustJudge ||= this.#isAside || !this.#streams.current || !this.#streams.remembersAll
    return this.#mustJudge ? null : this.#judgement(isBatch(readings) ? readings.length : 1, request)
  }

  #noRoomFor(readings: Readings): ReadingRefusal | null {
    if (this.#isInDoubt || this.#isStuck) return storeUnavailable
    return this.#mailbox.refusesReadings(readings, this.#run ?? nothing)
  }

  /** The answer that can be given at once; `null` if its readings have their places, or it has to be judged once more. */
  #judgement(places: number, keyed: KeyedRequest | null): ReadingAnswer | null {
    const answer = keyed === null ? null : this.#keyed.answer(keyed)
    if (answer === 'unconfirmed') this.#mustJudge = true
    if (answer !== null) return answer === 'unconfirmed' ? null : answer
    const refusal = this.#admit(places)
    return refusal === null ? null : refused(refusal)
  }

  /** Readings wait behind an append that nobody can say of whether it was written, and the store is known to be away. */
  get #isStuck(): boolean {
    return this.#run?.isDoubtful === true && !this.#host.log.health().ok
  }

  #admit(places: number): ReadingRefusal | null {
    const { key, readings, limit, now } = this.#streams
    const refusal = admit(key, readings, { limit, now, readings: places })
    if (refusal?.kind === 'key_expired') this.#noticeExpiry()
    if (refusal !== null) return refusal
    readings.window.reserve(places, now)
    this.#placesOfWaiting += places
    return null
  }

  #ask<T>(work: () => Promise<Outcome<T, CommandRefusal>>): Promise<Outcome<T, CommandRefusal>> {
    const answer = this.#mailbox.ask(work, this.#host.beat)
    this.#wake()
    return answer
  }

  #wake(): void {
    if (this.#isFlushDue || this.#run !== null || this.#isAside) return
    this.#isFlushDue = true
    this.#host.flushSoon(this)
  }

  /** Begins what comes next, unless something is under way: its end comes here again. */
  #advance(): void {
    if (this.#run !== null || this.#isAside) return
    const isWaiting = this.#mailbox.hasReadings && !this.#givingWay.isGiving
    if (
      this.#mailbox.hasCommands ||
      this.#loading !== null ||
      (isWaiting && (this.#mustJudge || !this.#streams.current))
    ) {
      this.#isAside = true
      void this.#workAside()
    } else if (isWaiting) this.#send()
  }

  #send(): void {
    let taken: readonly ReadingAsk[] = []
    try {
      const { key, readings, readingsStream, now } = this.#streams
      // One instant, one key: what holds for one of them holds for all.
      const refusal = refusalOfKey(key, readings.sealed !== null, now)
      if (refusal !== null) {
        this.#releaseWaiting()
        if (refusal.kind === 'key_expired') this.#noticeExpiry()
        this.#mailbox.refuseReadings(refusal)
        return
      }
      const { asks, places } = this.#mailbox.takeReadings(runBounds)
      taken = asks
      this.#placesOfWaiting -= places
      const expected = readings.revision ?? 'none'
      const events = readingEvents(this.#by, asks, now)
      this.#keyed.send(asks)
      this.#run = { asks, places, events, expected, recordedAt: now, isDoubtful: false, tries: 0 }
      this.#append(this.#run, readingsStream)
    } catch (bug) {
      this.#break(bug)
      for (const ask of taken) ask.settle(refused(internalError))
    }
  }

  #append(run: Run, stream: string): void {
    this.#host.log.append(stream, run.expected, run.events).then(
      (result) => this.#appended(run, result),
      (error: unknown) => this.#failed(run, error),
    )
  }

  #appended(run: Run, result: AppendResult): void {
    try {
      if (result.outcome === 'conflict') this.#conflicted(run, result.currentRevision)
      else this.#written(run)
    } catch (bug) {
      this.#break(bug)
    }
    this.#advance()
  }

  #written(run: Run): void {
    const { readings, readingsStream } = this.#streams
    const first = run.expected === 'none' ? 0 : run.expected + 1
    readings.window.giveBack(run.places)
    foldRun(readings, { revision: first, recordedAt: run.recordedAt, readings: run.places })
    this.#conflicts = 0
    this.#givingWay.afterAppend(this.#host.clock.now() - run.recordedAt)
    const usage = this.#streams.usage
    if (usage === null) throw new Error(`Cannot answer for "${readingsStream}": its key is not known`)
    this.#run = null
    // What has come meanwhile leaves before anyone is answered, so that the log writes it while the answers are made.
    this.#advance()
    acknowledge(run, { stream: readingsStream, first, usage }, this.#keyed)
  }

  /** Somebody else wrote at that place, so none of it is written: it is judged again on what they wrote. */
  #conflicted(run: Run, currentRevision: number | null): void {
    this.#run = null
    this.#streams.readings.window.giveBack(run.places)
    this.#streams.meet(currentRevision)
    this.#givingWay.afterConflict(this.#host.clock.now() - run.recordedAt)
    this.#conflicts += 1
    if (this.#conflicts <= conflictRetriesMax) {
      this.#mailbox.putBack(run.asks)
      this.#mustJudge = true
    } else {
      this.#conflicts = 0
      for (const ask of run.asks) ask.settle(refused(overloaded))
    }
  }

  #failed(run: Run, error: unknown): void {
    if (!(error instanceof Outage)) {
      this.#break(error)
      this.#advance()
      return
    }
    run.isDoubtful ||= error.outcome === 'unknown'
    if (run.isDoubtful && run.tries < storeRetriesMax && !this.#host.gaveUp) {
      const pauseMs = retryPauseMs(run.tries, this.#host)
      run.tries += 1
      if (this.#isStuck) {
        this.#releaseWaiting()
        this.#mailbox.refuseReadings(storeUnavailable)
      }
      this.#host.schedule.after(pauseMs, () => this.#append(run, this.#streams.readingsStream))
      return
    }
    this.#run = null
    this.#streams.readings.window.giveBack(run.places)
    if (run.isDoubtful) this.#streams.forget()
    for (const ask of run.asks) ask.settle(refused(readingRefusalOf(error)))
    this.#advance()
  }

  /** One command, or whatever the state needs; then `#advance` looks what is left. */
  async #workAside(): Promise<void> {
    this.#releaseWaiting()
    this.#mustJudge = true
    try {
      await this.#streams.bringUp()
      await this.#keyed.bringUp()
      await this.#finishWhatIsHalfDone()
      await this.#mailbox.performNext()
      if (this.#isInDoubt) this.#streams.forget()
      this.#isAside = false
      if (this.#streams.current) this.#judge()
    } catch (error) {
      this.#isAside = false
      if (error instanceof Outage) {
        this.#mailbox.refuseCommands(commandRefusalOf(error))
        this.#mailbox.refuseReadings(readingRefusalOf(error))
      } else this.#break(error)
    }
    this.#isInDoubt = false
    this.#endLoading()
    this.#advance()
  }

  async #finishWhatIsHalfDone(): Promise<void> {
    const { key, readings } = this.#streams
    if (readings.sealed === null || key === null || key.revoked !== null) return
    await finishRevocation(this.#work, { mustFinish: false })
  }

  #judge(): void {
    this.#mustJudge = false
    this.#mailbox.judgeReadings((ask) => this.#judgement(ask.places, ask.keyed))
  }

  #releaseWaiting(): void {
    this.#streams.readings.window.giveBack(this.#placesOfWaiting)
    this.#placesOfWaiting = 0
  }

  #doubt(): void {
    this.#isInDoubt = true
    this.#mailbox.refuseReadings(storeUnavailable)
  }

  #forgetAfter(bug: unknown): ReadingAnswer {
    this.#streams.forget()
    this.#host.onBug(bug)
    return refused(internalError)
  }

  /** A bug: everyone who waits is told, and the state, which it may have spoilt, is folded anew at the next ask. */
  #break(bug: unknown): void {
    const asks = this.#run?.asks ?? []
    this.#run = null
    this.#placesOfWaiting = 0
    this.#streams.forget()
    for (const ask of asks) ask.settle(refused(internalError))
    this.#mailbox.refuseReadings(internalError)
    this.#mailbox.failCommands(bug)
    this.#host.onBug(bug)
  }

  /** The first to notice that a key has expired has it recorded, once. */
  #noticeExpiry(): void {
    const { key } = this.#streams
    if (key === null || key.expiryRecorded === key.expiresAt || this.#expiryNoticed === key.expiresAt) return
    this.#expiryNoticed = key.expiresAt
    const asker: Asker = { by: { kind: 'system' }, requestId: this.#host.entropy.uuid() }
    this.change({ type: 'RecordKeyExpiry' }, asker).catch(() => {
      // Whatever it was has been told as a bug; the sweep records the expiry later.
    })
  }

  #endLoading(): void {
    this.#loading?.resolve()
    this.#loading = null
  }
}

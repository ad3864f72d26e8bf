import type { RecordedEvent } from '../../domain/events.ts'
import { refusalOfKey } from '../../domain/key-refusal.ts'
import { foldRun } from '../../domain/reading/admit-by-key-and-window.ts'
import { countOf, type Readings } from '../../domain/reading/columns.ts'
import { ReadingRun } from '../../domain/reading/recorded-run.ts'
import { type CommandRefusal, done, type Outcome, type ReadingRefusal, refused } from '../../domain/refusal.ts'
import { conflictRetriesMax } from '../../limits.ts'
import { type AppendResult, Outage } from '../../log/event-log.ts'
import type { ActorContext } from '../actor-context.ts'
import type { Asker, IdempotentRequest, Usage } from '../core-interface.ts'
import { commandRefusalOf, readingRefusalOf } from '../outage-refusals.ts'
import { IdempotentRequests } from '../repeats/idempotent-requests.ts'
import { retryPauseMs, storeRetriesMax } from '../stream/append-until-known.ts'
import {
  type ChangeKey,
  changeKey,
  finishHalfDoneRevocation,
  type KeyWork,
  type RotateKey,
  revokeKey,
  rotateKey,
} from './change-key.ts'
import { type CheckAnswer, KeyStreams } from './key-streams.ts'
import { Mailbox, type ReadingAnswer, ReadingsRequest } from './mailbox.ts'
import { acknowledge, type ReadingsAppend } from './readings-append.ts'
import { StreamSharing } from './stream-sharing.ts'

export const appendBytesMax = 512 * 1024
export const appendReadingsMax = 4_096

type KeyAnswer = ReturnType<typeof changeKey>

const storeUnavailable: ReadingRefusal = { kind: 'store_unavailable' }
const internalError: ReadingRefusal = { kind: 'internal_error' }
const runBounds = { readingsMax: appendReadingsMax, bytesMax: appendBytesMax }

/**
 * The only writer of one key's streams on this node. At most one append of readings is under way. Fast path: `accept`
 * admits or refuses at once, without an async function. At the end of the turn, one append takes all admitted readings.
 * Slow path: loads the state and runs commands. Readings that arrive meanwhile wait until it ends.
 */
export class KeyActor {
  usedBeat = 0
  readonly #context: ActorContext
  readonly #keyId: string
  readonly #streams: KeyStreams
  readonly #mailbox = new Mailbox()
  readonly #sharing: StreamSharing
  #idempotent: IdempotentRequests | null = null
  /** An append that is under way, or waiting for its next try. */
  #run: ReadingsAppend | null = null
  /** Places in the rate window of waiting readings, not of those in `#run`. Refused readings give theirs back. */
  #reservedByWaiting = 0
  /** True while waiting readings are not admitted yet, because the state can be outdated. */
  #mustJudge = false
  #isOnSlowPath = false
  #isFlushDue = false
  #isInDoubt = false
  #conflictsInARow = 0

  constructor(keyId: string, context: ActorContext) {
    this.#context = context
    this.#keyId = keyId
    this.#streams = new KeyStreams(keyId, context)
    this.#sharing = new StreamSharing(context, keyId, this)
  }

  get isIdle(): boolean {
    return this.#run === null && !this.#isOnSlowPath && !this.#isFlushDue && this.#mailbox.isEmpty
  }

  /** Answers within `requestWaitMsMax`, if need be with a refusal. Never throws. */
  accept(readings: Readings, requestId: string): Promise<ReadingAnswer> {
    try {
      const refusal = this.#refusal(countOf(readings))
      if (refusal !== null) return Promise.resolve(refused(refusal))
    } catch (bug) {
      return Promise.resolve(this.#forgetAfter(bug))
    }
    const request = new ReadingsRequest(readings, requestId, this.#context.beat)
    this.#mailbox.put(request)
    this.#wake()
    return request.answer
  }

  acceptIdempotent(readings: Readings, request: IdempotentRequest): Promise<ReadingAnswer> {
    try {
      const answer = this.#earlyAnswer(countOf(readings), request)
      if (answer !== null) return Promise.resolve(answer)
    } catch (bug) {
      return Promise.resolve(this.#forgetAfter(bug))
    }
    const waiting = this.#idempotentRequests().begin(readings, request)
    this.#mailbox.put(waiting)
    this.#wake()
    return waiting.answer
  }

  knowsIdempotencyKey(keyHash: string): boolean {
    return this.#idempotentRequests().knows(keyHash, { isAppending: this.#run !== null })
  }

  /** Other nodes' readings up to `heardTo` are read first. `null`: the key is unknown, or the store is unavailable. */
  usage(heardTo = -1): Usage | null | Promise<Usage | null> {
    // During an append, `heardTo` can name this node's own readings, which are counted already.
    const isEnough = this.#streams.checkLoaded() && (this.#run !== null || !this.#streams.orderNews(heardTo))
    if (isEnough) return this.#streams.usage
    this.#wake()
    return this.#mailbox
      .waitForLoading(this.#context.beat)
      .then(() => (this.#streams.checkLoaded() ? this.#streams.usage : null))
  }

  async check(count: number): Promise<CheckAnswer> {
    const full = this.#noRoomFor(count)
    if (full !== null) return refused(full)
    const mustRead = this.#isOnSlowPath || (this.#run === null && !this.#streams.checkNews())
    if (mustRead) this.#wake()
    const isRead =
      (!mustRead || (await this.#mailbox.waitForLoading(this.#context.beat))) && this.#streams.checkLoaded()
    return isRead && this.#context.log.health().ok ? this.#streams.check(count) : refused(storeUnavailable)
  }

  change(command: ChangeKey, asker: Asker): KeyAnswer {
    return this.#ask(() => changeKey(this.#work, command, asker))
  }

  rotate(command: RotateKey, asker: Asker): ReturnType<typeof rotateKey> {
    return this.#ask(() => rotateKey(this.#work, command, asker))
  }

  revoke(reason: string, asker: Asker): KeyAnswer {
    return this.#ask(() => revokeKey(this.#work, reason, asker))
  }

  /** An empty command: before each, the slow path reads missing events and ends half-done revocations. */
  catchUp(): Promise<Outcome<null, CommandRefusal>> {
    return this.#ask(async () => done(null))
  }

  hear(event: RecordedEvent): void {
    if (this.#streams.hear(event) === 'key_changed') this.#sharing.pauseForFence()
  }

  flush(): void {
    this.#isFlushDue = false
    this.#advance()
  }

  /** Refuses requests of heartbeat `beat` or before. Their appends go on, so their readings can still be stored. */
  answerOverdue(beat: number): void {
    const overdue = Math.min(this.#mailbox.answerOverdue(beat), this.#reservedByWaiting)
    this.#reservedByWaiting -= overdue
    this.#streams.readings.window.giveBack(overdue)
    for (const request of this.#run?.requests ?? []) if (request.beat <= beat) request.settle(refused(storeUnavailable))
  }

  stop(): void {
    this.#mailbox.stop()
    for (const request of this.#run?.requests ?? []) request.settle(refused(storeUnavailable))
  }

  /** `null`: the readings are admitted, or the slow path will admit or refuse them. */
  #refusal(count: number): ReadingRefusal | null {
    const full = this.#noRoomFor(count)
    if (full !== null) return full
    this.#mustJudge ||= this.#isOnSlowPath || !this.#streams.checkCurrent()
    return this.#mustJudge ? null : this.#admit(count)
  }

  #earlyAnswer(count: number, request: IdempotentRequest): ReadingAnswer | null {
    const isAppending = this.#run !== null
    if (this.#idempotentRequests().isUnderWay(request.idempotency.keyHash, { isAppending }))
      return refused({ kind: 'idempotency_in_progress' })
    const full = this.#noRoomFor(count)
    if (full !== null) return refused(full)
    this.#mustJudge ||= this.#isOnSlowPath || !this.#streams.checkCurrent() || !this.#streams.knowsAllRepeats
    return this.#mustJudge ? null : this.#judgement(count, request)
  }

  #noRoomFor(count: number): ReadingRefusal | null {
    if (this.#isInDoubt || this.#isStuck) return storeUnavailable
    return this.#mailbox.refusalOf(count, this.#run)
  }

  #judgement(count: number, request: IdempotentRequest | null): ReadingAnswer | null {
    const answer = request === null ? null : this.#idempotentRequests().answer(request)
    if (answer === 'unconfirmed') this.#mustJudge = true
    if (answer !== null) return answer === 'unconfirmed' ? null : answer
    const refusal = this.#admit(count)
    return refusal === null ? null : refused(refusal)
  }

  /** An append of unknown outcome blocks later appends, so new readings would only wait. */
  get #isStuck(): boolean {
    return this.#run?.isDoubtful === true && !this.#context.log.health().ok
  }

  #admit(count: number): ReadingRefusal | null {
    const { readings, now } = this.#streams
    const refusal = this.#streams.refusalOf(count, now)
    if (refusal !== null) return refusal
    readings.window.reserve(count, now)
    this.#reservedByWaiting += count
    return null
  }

  get #work(): KeyWork {
    const onDoubt = (): void => {
      this.#isInDoubt = true
      this.#mailbox.refuseReadings(storeUnavailable)
    }
    return { context: this.#context, streams: this.#streams, onDoubt }
  }

  #idempotentRequests(): IdempotentRequests {
    this.#idempotent ??= new IdempotentRequests(this.#context, this.#streams)
    return this.#idempotent
  }

  #ask<T>(work: () => Promise<Outcome<T, CommandRefusal>>): Promise<Outcome<T, CommandRefusal>> {
    const answer = this.#mailbox.ask(work, this.#context.beat)
    this.#wake()
    return answer
  }

  #wake(): void {
    if (this.#isFlushDue || this.#run !== null || this.#isOnSlowPath) return
    this.#isFlushDue = true
    this.#context.flushSoon(this)
  }

  #advance(): void {
    if (this.#run !== null || this.#isOnSlowPath) return
    const mayAppend = this.#mailbox.hasReadings && !this.#sharing.isPausing
    const mustCatchUp = mayAppend && (this.#mustJudge || !this.#streams.checkCurrent())
    if (this.#mailbox.hasCommands || this.#mailbox.isLoadingAwaited || mustCatchUp) void this.#runSlowPath()
    else if (mayAppend) this.#send()
  }

  #send(): void {
    let taken: readonly ReadingsRequest[] = []
    try {
      const { key, readings, readingsStream, now } = this.#streams
      // One check is enough: all readings share the key.
      const refusal = refusalOfKey(key, readings.sealed !== null, now)
      if (refusal !== null) {
        this.#releaseWaiting()
        this.#mailbox.refuseReadings(refusal)
        return
      }
      const { requests, count } = this.#mailbox.takeReadings(runBounds)
      taken = requests
      this.#reservedByWaiting -= count
      const expected = readings.revision ?? 'none'
      this.#idempotent?.sent(requests)
      const run = new ReadingRun(this.#keyId, now, requests)
      this.#run = { requests, count, readings: run, expected, isDoubtful: false, tries: 0 }
      this.#append(this.#run, readingsStream)
    } catch (bug) {
      this.#break(bug)
      for (const request of taken) request.settle(refused(internalError))
    }
  }

  #append(run: ReadingsAppend, stream: string): void {
    this.#context.log.append(stream, run.expected, run.readings).then(
      (result) => this.#appended(run, result),
      (error: unknown) => this.#failed(run, error),
    )
  }

  #appended(run: ReadingsAppend, result: AppendResult): void {
    try {
      if (result.outcome === 'conflict') this.#conflicted(run, result.currentRevision)
      else this.#written(run)
    } catch (bug) {
      this.#break(bug)
    }
    this.#advance()
  }

  #written(run: ReadingsAppend): void {
    const { readings, readingsStream } = this.#streams
    this.#context.storedReadings += run.count
    const first = run.expected === 'none' ? 0 : run.expected + 1
    readings.window.giveBack(run.count)
    foldRun(readings, { revision: first, recordedAt: run.readings.recordedAt, readings: run.count })
    this.#conflictsInARow = 0
    this.#sharing.afterAppend(this.#context.clock.now() - run.readings.recordedAt)
    const usage = this.#streams.usage
    if (usage === null) throw new Error(`Cannot answer for "${readingsStream}": its key is not known`)
    this.#run = null
    // This comes before the answers, so that the log works while they are made.
    this.#advance()
    acknowledge(run, { stream: readingsStream, first, usage }, this.#idempotent)
  }

  #conflicted(run: ReadingsAppend, currentRevision: number | null): void {
    this.#run = null
    this.#streams.readings.window.giveBack(run.count)
    this.#streams.noteConflict(currentRevision)
    this.#sharing.afterConflict(this.#context.clock.now() - run.readings.recordedAt)
    this.#conflictsInARow += 1
    if (this.#conflictsInARow <= conflictRetriesMax) {
      this.#mailbox.putBack(run.requests)
      this.#mustJudge = true
    } else {
      this.#conflictsInARow = 0
      for (const request of run.requests) request.settle(refused({ kind: 'overloaded' }))
    }
  }

  #failed(run: ReadingsAppend, error: unknown): void {
    if (!(error instanceof Outage)) {
      this.#break(error)
      this.#advance()
      return
    }
    run.isDoubtful ||= error.outcome === 'unknown'
    if (run.isDoubtful && run.tries < storeRetriesMax && !this.#context.gaveUp) {
      const pauseMs = retryPauseMs(run.tries, this.#context)
      run.tries += 1
      if (this.#isStuck) {
        this.#releaseWaiting()
        this.#mailbox.refuseReadings(storeUnavailable)
      }
      this.#context.schedule.after(pauseMs, () => this.#append(run, this.#streams.readingsStream))
      return
    }
    this.#run = null
    this.#streams.readings.window.giveBack(run.count)
    if (run.isDoubtful) this.#streams.forget()
    for (const request of run.requests) request.settle(refused(readingRefusalOf(error)))
    this.#advance()
  }

  async #runSlowPath(): Promise<void> {
    this.#isOnSlowPath = true
    this.#releaseWaiting()
    this.#mustJudge = true
    try {
      await this.#streams.catchUp()
      await this.#idempotent?.catchUp()
      await finishHalfDoneRevocation(this.#work)
      await this.#mailbox.performNext()
      if (this.#isInDoubt) this.#streams.forget()
      this.#isOnSlowPath = false
      if (this.#streams.checkCurrent()) this.#judgeWaiting()
    } catch (error) {
      this.#isOnSlowPath = false
      this.#mailbox.endLoading(false)
      if (error instanceof Outage) {
        this.#mailbox.refuseCommands(commandRefusalOf(error))
        this.#mailbox.refuseReadings(readingRefusalOf(error))
      } else this.#break(error)
    }
    this.#isInDoubt = false
    this.#mailbox.endLoading(true)
    this.#advance()
  }

  #judgeWaiting(): void {
    this.#mustJudge = false
    this.#mailbox.judgeReadings((request) => this.#judgement(request.count, request.idempotent))
  }

  #releaseWaiting(): void {
    this.#streams.readings.window.giveBack(this.#reservedByWaiting)
    this.#reservedByWaiting = 0
  }

  #forgetAfter(bug: unknown): ReadingAnswer {
    this.#streams.forget()
    this.#context.onBug(bug)
    return refused(internalError)
  }

  /** The bug can have damaged the state, so the next request loads it again. */
  #break(bug: unknown): void {
    const requests = this.#run?.requests ?? []
    this.#run = null
    this.#reservedByWaiting = 0
    this.#streams.forget()
    for (const request of requests) request.settle(refused(internalError))
    this.#mailbox.refuseReadings(internalError)
    this.#mailbox.failCommands(bug)
    this.#context.onBug(bug)
  }
}

import { countOf, isBatch, type Readings } from '../../domain/reading/columns.ts'
import type { Idempotency } from '../../domain/reading/idempotency-key.ts'
import { encodedBytesAtMost } from '../../domain/reading/reading-size.ts'
import type { RunRequest } from '../../domain/reading/recorded-run.ts'
import { type CommandRefusal, type Outcome, type ReadingRefusal, refused } from '../../domain/refusal.ts'
import { Outage } from '../../log/event-log.ts'
import type { Accepted, IdempotentRequest } from '../core-interface.ts'
import { commandRefusalOf } from '../outage-refusals.ts'

/** The bytes that an idempotency key adds to an append. As JSON, its hashes and the facts of its batch take at most 375. */
export const encodedIdempotencyBytes = 380
export const mailboxRequestsMax = 4_096
/** The most waiting readings of one actor: 64 full batches, about 25 MB. */
export const mailboxReadingsMax = 65_536
export const mailboxCommandsMax = 64

export type ReadingAnswer = Outcome<Accepted, ReadingRefusal>

export type RequestGroup = { readonly requests: readonly ReadingsRequest[]; readonly count: number }

let lastResolve: (answer: ReadingAnswer) => void = () => {}
/** A new closure for each promise would be the slowest part of a request. */
const keepResolve = (resolve: (answer: ReadingAnswer) => void): void => {
  lastResolve = resolve
}

/** A timeout can answer before the append ends, so only the first `settle` has an effect. */
export class ReadingsRequest implements RunRequest {
  readonly answer: Promise<ReadingAnswer>
  settled = false
  readonly count: number
  readonly #resolve: (answer: ReadingAnswer) => void

  constructor(
    readonly readings: Readings,
    readonly requestId: string,
    readonly beat: number,
  ) {
    this.count = countOf(readings)
    this.answer = new Promise(keepResolve)
    this.#resolve = lastResolve
  }

  get idempotent(): IdempotentRequest | null {
    return null
  }

  get idempotency(): Idempotency | null {
    return this.idempotent?.idempotency ?? null
  }

  settle(answer: ReadingAnswer): void {
    if (this.settled) return
    this.settled = true
    this.#resolve(answer)
  }
}

export class IdempotentReadingsRequest extends ReadingsRequest {
  readonly #request: IdempotentRequest
  readonly #onSettled: () => void

  constructor(
    readings: Readings,
    request: IdempotentRequest,
    { beat, onSettled }: { readonly beat: number; onSettled(): void },
  ) {
    super(readings, request.requestId, beat)
    this.#request = request
    this.#onSettled = onSettled
  }

  override get idempotent(): IdempotentRequest {
    return this.#request
  }

  override settle(answer: ReadingAnswer): void {
    if (this.settled) return
    super.settle(answer)
    this.#onSettled()
  }
}

/** After a timeout, a command that has begun runs to its end, but its result is ignored. */
export class CommandRequest<T = unknown> {
  readonly answer: Promise<Outcome<T, CommandRefusal>>
  settled = false
  readonly #resolve: (answer: Outcome<T, CommandRefusal>) => void
  readonly #reject: (bug: unknown) => void

  constructor(
    readonly work: () => Promise<Outcome<T, CommandRefusal>>,
    readonly beat: number,
  ) {
    const { promise, resolve, reject } = Promise.withResolvers<Outcome<T, CommandRefusal>>()
    this.answer = promise
    this.#resolve = resolve
    this.#reject = reject
  }

  /** Answers an outage with a refusal. @throws a bug, so that the actor drops its state, which can be wrong. */
  async perform(): Promise<void> {
    try {
      this.#settle(await this.work())
    } catch (error) {
      if (error instanceof Outage) this.#settle(refused(commandRefusalOf(error)))
      else {
        this.fail(error)
        throw error
      }
    }
  }

  refuse(refusal: CommandRefusal): void {
    this.#settle(refused(refusal))
  }

  fail(bug: unknown): void {
    if (this.settled) return
    this.settled = true
    this.#reject(bug)
  }

  #settle(answer: Outcome<T, CommandRefusal>): void {
    if (this.settled) return
    this.settled = true
    this.#resolve(answer)
  }
}

type WaitingCommand = Pick<CommandRequest, 'perform' | 'refuse' | 'fail' | 'beat'>

/** Commands have their own limit and are taken first, so waiting readings never delay or refuse a revocation. */
export class Mailbox {
  #commands: WaitingCommand[] = []
  #performing: WaitingCommand | null = null
  #requests: ReadingsRequest[] = []
  #readingsCount = 0
  /** Pages and checks wait until the state is loaded, without a place in a queue. */
  #loading: (PromiseWithResolvers<boolean> & { readonly beat: number }) | null = null
  #isStopped = false

  get hasReadings(): boolean {
    return this.#requests.length > 0
  }

  get isEmpty(): boolean {
    return this.#requests.length === 0 && this.#commands.length === 0 && this.#performing === null
  }

  get hasCommands(): boolean {
    return this.#commands.length > 0
  }

  get isLoadingAwaited(): boolean {
    return this.#loading !== null
  }

  waitForLoading(beat: number): Promise<boolean> {
    this.#loading ??= { ...Promise.withResolvers<boolean>(), beat }
    return this.#loading.promise
  }

  endLoading(isRead: boolean): void {
    this.#loading?.resolve(isRead)
    this.#loading = null
  }

  ask<T>(work: () => Promise<Outcome<T, CommandRefusal>>, beat: number): Promise<Outcome<T, CommandRefusal>> {
    const command = new CommandRequest(work, beat)
    if (this.#isStopped || this.#commands.length >= mailboxCommandsMax) command.refuse({ kind: 'busy' })
    else this.#commands.push(command)
    return command.answer
  }

  /** `null`: there is room. Readings in the current append still count, because they take memory, too. */
  refusalOf(count: number, appending: RequestGroup | null): ReadingRefusal | null {
    if (this.#isStopped) return { kind: 'store_unavailable' }
    const requests = this.#requests.length + (appending?.requests.length ?? 0)
    const readings = this.#readingsCount + (appending?.count ?? 0) + count
    return requests >= mailboxRequestsMax || readings > mailboxReadingsMax ? { kind: 'overloaded' } : null
  }

  put(request: ReadingsRequest): void {
    this.#requests.push(request)
    this.#readingsCount += request.count
  }

  putBack(requests: readonly ReadingsRequest[]): void {
    this.#requests = requests.filter((request) => !request.settled).concat(this.#requests)
    this.#readingsCount = readingsOf(this.#requests)
  }

  async performNext(): Promise<void> {
    const command = this.#commands.shift()
    if (command === undefined) return
    this.#performing = command
    try {
      await command.perform()
    } finally {
      this.#performing = null
    }
  }

  /** Takes at least one request. So a single batch can exceed the bounds, up to `batchEncodedBytesMax`. */
  takeReadings(bounds: { readonly readingsMax: number; readonly bytesMax: number }): RequestGroup {
    const waiting = this.#requests
    let taken = 0
    let count = 0
    let bytes = 0
    while (taken < waiting.length) {
      const request = waiting[taken]
      if (request === undefined) break
      bytes += bytesAtMost(request)
      if (taken > 0 && (bytes > bounds.bytesMax || count + request.count > bounds.readingsMax)) break
      count += request.count
      taken += 1
    }
    this.#readingsCount -= count
    if (taken === waiting.length) {
      this.#requests = []
      return { requests: waiting, count }
    }
    this.#requests = waiting.slice(taken)
    return { requests: waiting.slice(0, taken), count }
  }

  /**
   * If `judge` returns `null`, the request stays. If it throws, the unanswered requests stay, so that the caller can refuse
   * them.
   */
  judgeReadings(judge: (request: ReadingsRequest) => ReadingAnswer | null): void {
    const waiting = this.#takeAll()
    let judged = 0
    try {
      for (const request of waiting) {
        const answer = judge(request)
        judged += 1
        if (answer === null) this.put(request)
        else request.settle(answer)
      }
    } finally {
      for (const request of waiting.slice(judged)) this.put(request)
    }
  }

  refuseReadings(refusal: ReadingRefusal): void {
    for (const request of this.#takeAll()) request.settle(refused(refusal))
  }

  refuseCommands(refusal: CommandRefusal): void {
    const waiting = this.#commands
    this.#commands = []
    for (const command of waiting) command.refuse(refusal)
  }

  failCommands(bug: unknown): void {
    const waiting = this.#commands
    this.#commands = []
    for (const command of waiting) command.fail(bug)
  }

  /**
   * Refuses requests of heartbeat `beat` or earlier. Returns the number of refused readings, whose places in the rate
   * window the caller gives back.
   */
  answerOverdue(beat: number): number {
    if (this.#performing !== null && this.#performing.beat <= beat) this.#performing.refuse({ kind: 'not_confirmed' })
    while (this.#commands[0] !== undefined && this.#commands[0].beat <= beat) {
      this.#commands.shift()?.refuse({ kind: 'store_unavailable' })
    }
    const first = this.#requests.findIndex((request) => request.beat > beat)
    const overdue = this.#requests.splice(0, first === -1 ? this.#requests.length : first)
    for (const request of overdue) request.settle(refused({ kind: 'store_unavailable' }))
    const count = readingsOf(overdue)
    this.#readingsCount -= count
    if (this.#loading !== null && this.#loading.beat <= beat) this.endLoading(false)
    return count
  }

  stop(): void {
    this.#isStopped = true
    this.#performing?.refuse({ kind: 'not_confirmed' })
    this.refuseCommands({ kind: 'busy' })
    this.refuseReadings({ kind: 'store_unavailable' })
    this.endLoading(false)
  }

  #takeAll(): readonly ReadingsRequest[] {
    const waiting = this.#requests
    this.#requests = []
    this.#readingsCount = 0
    return waiting
  }
}

const readingsOf = (requests: readonly ReadingsRequest[]): number =>
  requests.reduce((count, request) => count + request.count, 0)

const bytesAtMost = ({ readings, idempotent }: ReadingsRequest): number =>
  (isBatch(readings) ? readings.encodedBytesAtMost : encodedBytesAtMost(readings)) +
  (idempotent === null ? 0 : encodedIdempotencyBytes)

import { isBatch, type Readings } from '../../domain/reading/reading.ts'
import { encodedBytesAtMost, sumOf } from '../../domain/reading/reading-size.ts'
import { type CommandRefusal, type Outcome, type ReadingRefusal, refused } from '../../domain/refusal.ts'
import { encodedIdempotencyBytes, mailboxCommandsMax, mailboxReadingsMax, mailboxRequestsMax } from '../../limits.ts'
import { Outage } from '../../log/event-log.ts'
import type { Accepted, KeyedRequest } from '../core.ts'
import { commandRefusalOf } from '../outage-refusals.ts'

export type ReadingAnswer = Outcome<Accepted, ReadingRefusal>

/** What goes into one append: requests, and how many readings they have together. */
export type Appending = { readonly asks: readonly ReadingAsk[]; readonly places: number }

let handedOut: (answer: ReadingAnswer) => void = () => {}
/** One executor for all promises: a closure for each would be the dearest part of an ask. */
const handOut = (resolve: (answer: ReadingAnswer) => void): void => {
  handedOut = resolve
}

/** The readings of one request, which wait for one answer. Settles once: whoever comes second is not heard. */
export class ReadingAsk {
  readonly answer: Promise<ReadingAnswer>
  settled = false
  /** How many readings it has: the places that they take. */
  readonly places: number
  readonly #resolve: (answer: ReadingAnswer) => void

  constructor(
    readonly readings: Readings,
    readonly requestId: string,
    /** The heartbeat in which it came. */
    readonly beat: number,
  ) {
    this.places = isBatch(readings) ? readings.length : 1
    this.answer = new Promise(handOut)
    this.#resolve = handedOut
  }

  /** What its `Idempotency-Key` asks for, if it has one. */
  get keyed(): KeyedRequest | null {
    return null
  }

  settle(answer: ReadingAnswer): void {
    if (this.settled) return
    this.settled = true
    this.#resolve(answer)
  }
}

/** One with an `Idempotency-Key`. */
export class KeyedAsk extends ReadingAsk {
  readonly #request: KeyedRequest
  readonly #onSettled: () => void

  constructor(
    readings: Readings,
    request: KeyedRequest,
    { beat, onSettled }: { readonly beat: number; onSettled(): void },
  ) {
    super(readings, request.requestId, beat)
    this.#request = request
    this.#onSettled = onSettled
  }

  override get keyed(): KeyedRequest {
    return this.#request
  }

  override settle(answer: ReadingAnswer): void {
    if (this.settled) return
    super.settle(answer)
    this.#onSettled()
  }
}

/** A command that waits for its turn, then for its end. Settles once, and goes on working if it is told off meanwhile. */
export class CommandAsk<T = unknown> {
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

  /** An outage is an answer; a bug reaches whoever asked, and the caller too, who forgets the state it may have spoilt. */
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

/** What a mailbox needs of a command, whatever it answers. */
type Waiting = Pick<CommandAsk, 'perform' | 'refuse' | 'fail' | 'beat'>

/**
 * What an actor has still to do. Bounded; commands have room of their own and are taken ahead of readings, so that a
 * revocation is never refused, or late, because readings wait.
 *
 * Every ask settles exactly once: done, refused, threw (a bug), full, or stopped.
 */
export class Mailbox {
  #commands: Waiting[] = []
  #performing: Waiting | null = null
  #readings: ReadingAsk[] = []
  /** Of all that wait. */
  #places = 0
  #stopped = false

  get hasReadings(): boolean {
    return this.#readings.length > 0
  }

  get isEmpty(): boolean {
    return this.#readings.length === 0 && this.#commands.length === 0 && this.#performing === null
  }

  get hasCommands(): boolean {
    return this.#commands.length > 0
  }

  /** The answer is there at once if the mailbox is full or stopped. */
  ask<T>(work: () => Promise<Outcome<T, CommandRefusal>>, beat: number): Promise<Outcome<T, CommandRefusal>> {
    const command = new CommandAsk(work, beat)
    if (this.#stopped || this.#commands.length >= mailboxCommandsMax) command.refuse({ kind: 'busy' })
    else this.#commands.push(command)
    return command.answer
  }

  /** Why these readings can't be taken in beside those that are being appended; `null` if they can. */
  refusesReadings(readings: Readings, appending: Appending): ReadingRefusal | null {
    if (this.#stopped) return { kind: 'store_unavailable' }
    const places = this.#places + appending.places + (isBatch(readings) ? readings.length : 1)
    if (this.#readings.length + appending.asks.length >= mailboxRequestsMax || places > mailboxReadingsMax) {
      return { kind: 'overloaded' }
    }
    return null
  }

  put(ask: ReadingAsk): void {
    this.#readings.push(ask)
    this.#places += ask.places
  }

  /** Readings that were taken and not written come first again. */
  putBack(asks: readonly ReadingAsk[]): void {
    this.#readings = asks.filter((ask) => !ask.settled).concat(this.#readings)
    this.#places = placesOf(this.#readings)
  }

  /** Performs the first command, if there is one. @throws what a bug in it threw. */
  async performNext(): Promise<boolean> {
    const command = this.#commands.shift()
    if (command === undefined) return false
    this.#performing = command
    try {
      await command.perform()
    } finally {
      this.#performing = null
    }
    return true
  }

  /**
   * The requests that come next, oldest first, each with all its readings: as many as both bounds allow, and at least one.
   * The bytes are those of an append at most; a batch by itself may have more, up to `batchEncodedBytesMax`.
   */
  takeReadings(bounds: { readonly readingsMax: number; readonly bytesMax: number }): Appending {
    const waiting = this.#readings
    let count = 0
    let places = 0
    let bytes = 0
    while (count < waiting.length) {
      const ask = waiting[count]
      if (ask === undefined) break
      bytes += bytesAtMost(ask)
      if (count > 0 && (bytes > bounds.bytesMax || places + ask.places > bounds.readingsMax)) break
      places += ask.places
      count += 1
    }
    this.#places -= places
    if (count === waiting.length) {
      this.#readings = []
      return { asks: waiting, places }
    }
    this.#readings = waiting.slice(count)
    return { asks: waiting.slice(0, count), places }
  }

  /** Settles the readings that `judge` has an answer for; keeps the others, and those that a bug in it left unjudged. */
  judgeReadings(judge: (ask: ReadingAsk) => ReadingAnswer | null): void {
    const waiting = this.#takeAll()
    let judged = 0
    try {
      for (const ask of waiting) {
        const answer = judge(ask)
        judged += 1
        if (answer === null) this.put(ask)
        else ask.settle(answer)
      }
    } finally {
      for (const ask of waiting.slice(judged)) this.put(ask)
    }
  }

  refuseReadings(refusal: ReadingRefusal): void {
    for (const ask of this.#takeAll()) ask.settle(refused(refusal))
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
   * Answers whoever came in that heartbeat or before. A command that never began did nothing; one that did may have, and
   * works on. The answer is how many readings went.
   */
  answerOverdue(beat: number): number {
    if (this.#performing !== null && this.#performing.beat <= beat) this.#performing.refuse({ kind: 'not_confirmed' })
    while (this.#commands[0] !== undefined && this.#commands[0].beat <= beat) {
      this.#commands.shift()?.refuse({ kind: 'store_unavailable' })
    }
    const first = this.#readings.findIndex((ask) => ask.beat > beat)
    const overdue = this.#readings.splice(0, first === -1 ? this.#readings.length : first)
    for (const ask of overdue) ask.settle(refused({ kind: 'store_unavailable' }))
    const places = placesOf(overdue)
    this.#places -= places
    return places
  }

  /** Settles everything, and whatever comes after. */
  stop(): void {
    this.#stopped = true
    this.#performing?.refuse({ kind: 'not_confirmed' })
    this.refuseCommands({ kind: 'busy' })
    this.refuseReadings({ kind: 'store_unavailable' })
  }

  #takeAll(): readonly ReadingAsk[] {
    const waiting = this.#readings
    this.#readings = []
    this.#places = 0
    return waiting
  }
}

const placesOf = (asks: readonly ReadingAsk[]): number => asks.reduce((places, ask) => places + ask.places, 0)

const bytesAtMost = ({ readings, keyed }: ReadingAsk): number =>
  (isBatch(readings) ? sumOf(readings, encodedBytesAtMost) : encodedBytesAtMost(readings)) +
  (keyed === null ? 0 : encodedIdempotencyBytes)

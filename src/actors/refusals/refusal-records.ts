import { isOfNode } from '../../domain/refusals/refusal-facts.ts'
import { RefusalSums, type Summary } from '../../domain/refusals/refusal-sums.ts'
import { nodeRefusalsStream, refusalsStream } from '../../domain/stream-names.ts'
import { Outage } from '../../log/event-log.ts'
import type { ActorContext } from '../actor-context.ts'
import { systemAsker } from '../asked-by.ts'
import type { RefusedRequest } from '../core-interface.ts'
import { storageRefusal } from '../outage-refusals.ts'
import { appendRecord } from '../stream/append-record.ts'

/** Appends of summaries at the same time. With more, 1,000 due summaries would delay the readings behind them. */
export const refusalAppendsAtOnce = 8

/** A process that dies loses only refusals that are not in a summary yet. */
export class RefusalRecords {
  readonly #context: ActorContext
  readonly #sums: RefusalSums
  #isWriting = false
  #isLast = false

  constructor(context: ActorContext) {
    this.#context = context
    this.#sums = new RefusalSums(context.clock.now())
  }

  get isIdle(): boolean {
    return !this.#isWriting
  }

  note({ keyId, ...refused }: RefusedRequest): void {
    this.#sums.note(isOfNode(refused.refusal) ? null : keyId, refused)
  }

  waiting(): ReturnType<RefusalSums['waiting']> {
    return this.#sums.waiting()
  }

  onBeat(): void {
    if (!this.#isWriting && this.#sums.hasWaiting) void this.#write()
  }

  writeAll(): void {
    this.#isLast = true
    this.onBeat()
  }

  async #write(): Promise<void> {
    this.#isWriting = true
    try {
      while (await this.#writeSome());
    } catch (bug) {
      this.#context.onBug(bug)
    }
    this.#isWriting = false
  }

  async #writeSome(): Promise<boolean> {
    const { gaveUp, log, clock } = this.#context
    if (gaveUp || storageRefusal(log) !== null) return false
    const due = this.#sums.take(clock.now(), { summariesMax: refusalAppendsAtOnce, isLast: this.#isLast })
    const written = await Promise.all(due.map((summary) => this.#append(summary)))
    return due.length > 0 && !written.includes(false)
  }

  async #append(summary: Summary): Promise<boolean> {
    const { keyId, data } = summary
    const stream = keyId === null ? nodeRefusalsStream : refusalsStream(keyId)
    try {
      await appendRecord(this.#context, stream, { type: 'ReadingsRefused', data }, systemAsker(this.#context))
      return true
    } catch (error) {
      // After an unknown outcome, the summary may be stored. No refusal may count twice.
      if (!(error instanceof Outage)) this.#context.onBug(error)
      else if (error.outcome === 'not_written') this.#sums.giveBack(summary, this.#context.clock.now())
      return !(error instanceof Outage)
    }
  }
}

import type { CommandRefusal, Outcome } from '../../domain/refusal.ts'
import type { ActorContext } from '../actor-context.ts'
import { Mailbox } from '../key/mailbox.ts'

/** Performs commands one after the other. */
export abstract class SerialCommands {
  protected readonly context: ActorContext
  readonly #mailbox = new Mailbox()
  #isWorking = false

  constructor(context: ActorContext) {
    this.context = context
  }

  get isIdle(): boolean {
    return !this.#isWorking && this.#mailbox.isEmpty
  }

  ask<T>(work: () => Promise<Outcome<T, CommandRefusal>>): Promise<Outcome<T, CommandRefusal>> {
    const answer = this.#mailbox.ask(work, this.context.beat)
    if (!this.#isWorking) void this.#performAll()
    return answer
  }

  answerOverdue(beat: number): void {
    this.#mailbox.answerOverdue(beat)
  }

  stop(): void {
    this.#mailbox.stop()
  }

  /** Called after a bug, which can have damaged the state. */
  protected forget(): void {}

  async #performAll(): Promise<void> {
    this.#isWorking = true
    while (this.#mailbox.hasCommands) {
      try {
        await this.#mailbox.performNext()
      } catch (bug) {
        this.forget()
        this.context.onBug(bug)
      }
    }
    this.#isWorking = false
  }
}

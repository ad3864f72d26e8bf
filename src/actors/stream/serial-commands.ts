import type { CommandRefusal, Outcome } from '../../domain/refusal.ts'
import type { ActorContext } from '../actor-context.ts'
import { Mailbox } from '../key/mailbox.ts'

/** One after the other. `forget` comes after a bug, which can have damaged the state. */
export class SerialCommands {
  readonly #mailbox = new Mailbox()
  readonly #context: ActorContext
  readonly #forget: () => void
  #isWorking = false

  constructor(context: ActorContext, forget: () => void) {
    this.#context = context
    this.#forget = forget
  }

  get isIdle(): boolean {
    return !this.#isWorking && this.#mailbox.isEmpty
  }

  ask<T>(work: () => Promise<Outcome<T, CommandRefusal>>): Promise<Outcome<T, CommandRefusal>> {
    const answer = this.#mailbox.ask(work, this.#context.beat)
    if (!this.#isWorking) void this.#performAll()
    return answer
  }

  answerOverdue(beat: number): void {
    this.#mailbox.answerOverdue(beat)
  }

  stop(): void {
    this.#mailbox.stop()
  }

  async #performAll(): Promise<void> {
    this.#isWorking = true
    while (this.#mailbox.hasCommands) {
      try {
        await this.#mailbox.performNext()
      } catch (bug) {
        this.#forget()
        this.#context.onBug(bug)
      }
    }
    this.#isWorking = false
  }
}

import type { CommandRefusal, Outcome } from '../../domain/refusal.ts'
import type { Host } from '../host.ts'
import type { Actor } from '../registry.ts'
import { FoldedStream, type Folding } from './folded-stream.ts'
import { SerialCommands } from './serial-commands.ts'

/** An actor that has one stream for its state, and works off its commands one after the other. */
export abstract class StreamActor<State> implements Actor {
  usedBeat = 0
  protected readonly host: Host
  protected readonly folded: FoldedStream<State>
  readonly #commands: SerialCommands

  constructor(host: Host, folding: Folding<State>) {
    this.host = host
    this.folded = new FoldedStream(host, folding)
    this.#commands = new SerialCommands(host, () => this.folded.forget())
  }

  get isIdle(): boolean {
    return this.#commands.isIdle
  }

  answerOverdue(beat: number): void {
    this.#commands.answerOverdue(beat)
  }

  stop(): void {
    this.#commands.stop()
  }

  protected ask<T>(work: () => Promise<Outcome<T, CommandRefusal>>): Promise<Outcome<T, CommandRefusal>> {
    return this.#commands.ask(work)
  }
}

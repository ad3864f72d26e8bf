import { type CommandRefusal, done, type Outcome } from '../../domain/refusal.ts'
import type { ActorContext } from '../actor-context.ts'
import type { Asker } from '../core-interface.ts'
import { appendRecord, type NewRecord } from './append-record.ts'
import { SerialCommands } from './serial-commands.ts'

/** One after the other. Outages become refusals. */
export class RecordStream {
  readonly #context: ActorContext
  readonly #stream: string
  readonly #queue: SerialCommands

  constructor(context: ActorContext, stream: string) {
    this.#context = context
    this.#stream = stream
    this.#queue = new SerialCommands(context, () => {})
  }

  get isIdle(): boolean {
    return this.#queue.isIdle
  }

  /** Returns the record's revision. */
  append(record: NewRecord, asker: Asker): Promise<Outcome<number, CommandRefusal>> {
    return this.#queue.ask(async () => done(await appendRecord(this.#context, this.#stream, record, asker)))
  }

  answerOverdue(beat: number): void {
    this.#queue.answerOverdue(beat)
  }

  stop(): void {
    this.#queue.stop()
  }
}

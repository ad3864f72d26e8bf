import { type CommandRefusal, done, type Outcome } from '../../domain/refusal.ts'
import type { ActorContext } from '../actor-context.ts'
import type { Asker } from '../core-interface.ts'
import { appendRecord, type NewRecord } from './append-record.ts'
import { SerialCommands } from './serial-commands.ts'

export class RecordStream extends SerialCommands {
  readonly #stream: string

  constructor(context: ActorContext, stream: string) {
    super(context)
    this.#stream = stream
  }

  /** Returns the record's revision. */
  append(record: NewRecord, asker: Asker): Promise<Outcome<number, CommandRefusal>> {
    return this.ask(async () => done(await appendRecord(this.context, this.#stream, record, asker)))
  }
}

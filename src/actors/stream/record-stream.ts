import type { Decided, NewEvent } from '../../domain/events.ts'
import { type CommandRefusal, done, type Outcome } from '../../domain/refusal.ts'
import { conflictRetriesMax } from '../../limits.ts'
import { Outage } from '../../log/event-log.ts'
import { askedBy } from '../asked-by.ts'
import type { Asker } from '../core.ts'
import type { Host } from '../host.ts'
import { appendUntilKnown } from './append-until-known.ts'
import { SerialCommands } from './serial-commands.ts'

export type RecordType = 'SignInSeen' | 'SignInsRefused' | 'LogExported'

/** Appends records to one stream, one after the other. Every node appends to it, so a conflict only means another try. */
export class RecordStream {
  readonly #host: Host
  readonly #stream: string
  readonly #queue: SerialCommands

  constructor(host: Host, stream: string) {
    this.#host = host
    this.#stream = stream
    this.#queue = new SerialCommands(host, () => {})
  }

  get isIdle(): boolean {
    return this.#queue.isIdle
  }

  /** Returns the record's revision. */
  append(record: Decided<RecordType>, asker: Asker): Promise<Outcome<number, CommandRefusal>> {
    return this.#queue.ask(async () => done(await this.#append(record, asker)))
  }

  answerOverdue(beat: number): void {
    this.#queue.answerOverdue(beat)
  }

  stop(): void {
    this.#queue.stop()
  }

  async #append(record: Decided<RecordType>, asker: Asker): Promise<number> {
    const { clock, entropy, log } = this.#host
    for (let tries = 0; tries < conflictRetriesMax; tries += 1) {
      const [last] = await log.read(this.#stream, { direction: 'backwards', limit: 1 })
      // Unlike in other streams, this time can be before the last event's time. Otherwise one clock that was ahead
      // would give all later records a time in the future, and so delay their purge.
      const recordedAt = clock.now()
      const event: NewEvent = { ...record, id: entropy.uuid(), recordedAt, metadata: askedBy(asker) }
      const append = { stream: this.#stream, expected: last?.revision ?? ('none' as const), events: [event] }
      const { outcome } = await appendUntilKnown(this.#host, append, { mustFinish: false })
      if (outcome !== 'conflict') return (last?.revision ?? -1) + 1
    }
    throw new Outage(`Cannot append to "${this.#stream}": each try met a conflict`, 'not_written', 'overloaded')
  }
}

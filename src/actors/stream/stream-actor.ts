import type { DecidedCellar } from '../../domain/cellar.ts'
import type { StreamKind } from '../../domain/events/declare-event.ts'
import { type NewEvent, narrowTo, type RecordedEvent, type TypesIn } from '../../domain/events.ts'
import type { DecidedOperator } from '../../domain/operator.ts'
import type { DecidedSetup } from '../../domain/operator-setup.ts'
import { type CommandRefusal, done, type Outcome, refused } from '../../domain/refusal.ts'
import { conflictRetriesMax } from '../../limits.ts'
import type { ActorContext } from '../actor-context.ts'
import { askedBy } from '../asked-by.ts'
import type { Asker } from '../core-interface.ts'
import { appendUntilKnown } from './append-until-known.ts'
import { readFrom } from './read-stream.ts'
import { SerialCommands } from './serial-commands.ts'

type Answer<T> = Promise<Outcome<T, CommandRefusal>>

type Decide<State, Command> = (
  state: State,
  command: Command,
  now: number,
) => Outcome<readonly (DecidedCellar | DecidedOperator | DecidedSetup)[], CommandRefusal>

type Folding<S extends StreamKind, State, Command> = {
  readonly stream: string
  readonly kind: S
  readonly initial: State
  readonly decide: Decide<State, Command>
  readonly evolve: (state: State, event: RecordedEvent<TypesIn<S>>) => State
  /**
   * State and revision in this node's projections. The actor then reads only later events. `null`: they do not know the
   * stream.
   */
  readonly projected?: () => { readonly state: State; readonly revision: number } | null
}

export class StreamActor<S extends StreamKind, State, Command> extends SerialCommands {
  usedBeat = 0
  readonly #folding: Folding<S, State, Command>
  #state: State
  #revision: number | null = null
  #recordedAt = 0
  #isLoaded = false

  constructor(context: ActorContext, folding: Folding<S, State, Command>) {
    super(context)
    this.#folding = folding
    this.#state = folding.initial
  }

  perform(command: Command, asker: Asker): Answer<State> {
    return this.ask(() => this.record(() => command, asker))
  }

  protected override forget(): void {
    this.#isLoaded = false
  }

  /** Reads new events each time, because another node can have written some. */
  protected async load(): Promise<State> {
    if (!this.#isLoaded) await this.#begin()
    const from = { stream: this.#folding.stream, revision: (this.#revision ?? -1) + 1 }
    await readFrom(this.context.log, from, (events) => this.#fold(events))
    this.#isLoaded = true
    return this.#state
  }

  /** After a conflict with another node, asks for the command and decides again with the newer state. */
  protected async record(commandNow: () => Command, asker: Asker): Answer<State> {
    const { clock, entropy } = this.context
    for (let tries = 0; tries < conflictRetriesMax; tries += 1) {
      const state = await this.load()
      const decision = this.#folding.decide(state, commandNow(), clock.now())
      if (!decision.ok) return decision
      if (decision.value.length === 0) return done(state)
      const common = { recordedAt: Math.max(clock.now(), this.#recordedAt), metadata: askedBy(asker) }
      const events = decision.value.map((event): NewEvent => ({ ...event, ...common, id: entropy.uuid() }))
      const append = { stream: this.#folding.stream, expected: this.#revision ?? ('none' as const), events }
      const result = await appendUntilKnown(this.context, append, { mustFinish: false })
      if (result.outcome !== 'conflict') {
        this.#fold(result.events)
        return done(this.#state)
      }
    }
    return refused({ kind: 'busy' })
  }

  /** A cellar's stream can have a million purge events, so the state of the projections comes first. */
  async #begin(): Promise<void> {
    const { stream, initial, projected } = this.#folding
    const known = projected?.() ?? null
    const [last] = known === null ? [] : await this.context.log.read(stream, { from: known.revision, limit: 1 })
    const isThere = known !== null && last?.revision === known.revision
    this.#state = isThere ? known.state : initial
    this.#revision = isThere ? known.revision : null
    this.#recordedAt = isThere ? last.recordedAt : 0
  }

  #fold(events: readonly RecordedEvent[]): void {
    for (const event of events) {
      this.#state = this.#folding.evolve(this.#state, narrowTo(this.#folding.kind, event))
      this.#revision = event.revision
      this.#recordedAt = event.recordedAt
    }
    this.context.projections.fold(events)
  }
}

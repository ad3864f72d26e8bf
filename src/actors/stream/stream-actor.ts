import type { DecidedCellar } from '../../domain/cellar.ts'
import type { NewEvent, RecordedEvent } from '../../domain/events.ts'
import type { DecidedOperator } from '../../domain/operator.ts'
import type { DecidedSetup } from '../../domain/operator-setup.ts'
import { type CommandRefusal, done, type Outcome, refused } from '../../domain/refusal.ts'
import { conflictRetriesMax } from '../../limits.ts'
import type { ActorContext } from '../actor-context.ts'
import { askedBy } from '../asked-by.ts'
import type { Asker } from '../core-interface.ts'
import type { Actor } from '../registry.ts'
import { appendUntilKnown } from './append-until-known.ts'
import { readFrom } from './read-stream.ts'
import { SerialCommands } from './serial-commands.ts'

type Answer<T> = Promise<Outcome<T, CommandRefusal>>

type Decide<State> = (
  state: State,
) => Outcome<readonly (DecidedCellar | DecidedOperator | DecidedSetup)[], CommandRefusal>

type Folding<State> = {
  readonly stream: string
  readonly initial: State
  readonly evolve: (state: State, event: RecordedEvent) => State
  /**
   * State and revision in this node's projections. The actor then reads only later events. `null`: they do not know the
   * stream.
   */
  readonly projected?: () => { readonly state: State; readonly revision: number } | null
}

export abstract class StreamActor<State> implements Actor {
  usedBeat = 0
  protected readonly context: ActorContext
  readonly #folding: Folding<State>
  readonly #commands: SerialCommands
  #state: State
  #revision: number | null = null
  #recordedAt = 0
  #isLoaded = false

  constructor(context: ActorContext, folding: Folding<State>) {
    this.context = context
    this.#folding = folding
    this.#state = folding.initial
    const forget = (): void => {
      this.#isLoaded = false
    }
    this.#commands = new SerialCommands(context, forget)
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

  protected ask<T>(work: () => Answer<T>): Answer<T> {
    return this.#commands.ask(work)
  }

  /** Reads new events each time, because another node can have written some. */
  protected async load(): Promise<State> {
    if (!this.#isLoaded) await this.#begin()
    const from = { stream: this.#folding.stream, revision: (this.#revision ?? -1) + 1 }
    await readFrom(this.context.log, from, (events) => this.#fold(events))
    this.#isLoaded = true
    return this.#state
  }

  /** After a conflict with another node, `decide` is called again with the newer state. */
  protected async record(decide: Decide<State>, asker: Asker): Answer<State> {
    for (let tries = 0; tries < conflictRetriesMax; tries += 1) {
      const decision = decide(await this.load())
      if (!decision.ok) return decision
      if (decision.value.length === 0) return done(this.#state)
      const recordedAt = Math.max(this.context.clock.now(), this.#recordedAt)
      const common = { recordedAt, metadata: askedBy(asker) }
      const events = decision.value.map((event): NewEvent => ({ ...event, ...common, id: this.context.entropy.uuid() }))
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
      this.#state = this.#folding.evolve(this.#state, event)
      this.#revision = event.revision
      this.#recordedAt = event.recordedAt
    }
    this.context.projections.fold(events)
  }
}

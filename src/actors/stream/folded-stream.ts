import type { DecidedCellar } from '../../domain/cellar.ts'
import type { NewEvent, RecordedEvent } from '../../domain/events.ts'
import type { DecidedOperator } from '../../domain/operator.ts'
import type { DecidedSetup } from '../../domain/operator-setup.ts'
import { type CommandRefusal, done, type Outcome, refused } from '../../domain/refusal.ts'
import { conflictRetriesMax } from '../../limits.ts'
import { askedBy } from '../asked-by.ts'
import type { Asker } from '../core.ts'
import type { Host } from '../host.ts'
import { appendUntilKnown } from './append-until-known.ts'
import { readFrom } from './read-stream.ts'

type Decide<State> = (
  state: State,
) => Outcome<readonly (DecidedCellar | DecidedOperator | DecidedSetup)[], CommandRefusal>

export type Folding<State> = {
  readonly stream: string
  readonly initial: State
  readonly evolve: (state: State, event: RecordedEvent) => State
  /** The state as this node's projections have it, and its last event's revision; `null` while they have none. */
  readonly projected?: () => { readonly state: State; readonly revision: number } | null
}

/** One stream with the state folded from it: load, decide, append, fold. Its owner asks for one thing at a time. */
export class FoldedStream<State> {
  readonly #host: Host
  readonly #folding: Folding<State>
  #state: State
  #revision: number | null = null
  #recordedAt = 0
  #isLoaded = false

  constructor(host: Host, folding: Folding<State>) {
    this.#host = host
    this.#folding = folding
    this.#state = folding.initial
  }

  /** The next ask folds the stream anew. */
  forget(): void {
    this.#isLoaded = false
  }

  /** The state as the log has it now: what is new is read each time, since another node may have written it. */
  async load(): Promise<State> {
    if (!this.#isLoaded) await this.#begin()
    const from = { stream: this.#folding.stream, revision: (this.#revision ?? -1) + 1 }
    await readFrom(this.#host.log, from, (events) => this.#fold(events))
    this.#isLoaded = true
    return this.#state
  }

  /** Records what `decide` says, again on every newer state that another node has written meanwhile. */
  async perform(decide: Decide<State>, asker: Asker): Promise<Outcome<State, CommandRefusal>> {
    for (let tries = 0; tries < conflictRetriesMax; tries += 1) {
      const decision = decide(await this.load())
      if (!decision.ok) return decision
      if (decision.value.length === 0) return done(this.#state)
      const recordedAt = Math.max(this.#host.clock.now(), this.#recordedAt)
      const common = { recordedAt, metadata: askedBy(asker) }
      const events = decision.value.map((event): NewEvent => ({ ...event, ...common, id: this.#host.entropy.uuid() }))
      const append = { stream: this.#folding.stream, expected: this.#revision ?? ('none' as const), events }
      const result = await appendUntilKnown(this.#host, append, { mustFinish: false })
      if (result.outcome !== 'conflict') {
        this.#fold(result.events)
        return done(this.#state)
      }
    }
    return refused({ kind: 'busy' })
  }

  /**
   * With what the projections have, if they have anything: a stream may be of a million events, as a cellar's is whose
   * readings are purged every day. Of the last one they do not know the time.
   */
  async #begin(): Promise<void> {
    const { stream, initial, projected } = this.#folding
    const known = projected?.() ?? null
    const [last] = known === null ? [] : await this.#host.log.read(stream, { from: known.revision, limit: 1 })
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
    this.#host.projections.fold(events)
  }
}

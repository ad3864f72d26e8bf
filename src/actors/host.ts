import type { Projections } from '../../projections/queries.ts'
import type { MachineClock } from '../clock.ts'
import type { RecordedEvent } from '../domain/events.ts'
import type { KeyedAppend } from '../domain/reading/idempotency-key.ts'
import type { Entropy } from '../entropy.ts'
import type { EventLog } from '../log/event-log.ts'
import type { Schedule } from './schedule.ts'
import { SteadyClock } from './time/steady-clock.ts'

/** What the host calls at the end of a turn. */
export type Flushable = { flush(): void }

/** What the key actors use of the memory of idempotency keys (`repeats/repeat-memory.ts`). */
export type RepeatMemory = {
  /** Every event up to this position is known; -1 while none is known for certain. */
  readonly foldedTo: number
  /** What the idempotency key has stored in the stream. `unknown`: the memory is not complete now. */
  find(stream: string, keyHash: string): KeyedAppend | null | 'unknown'
  /** True if the event is so old that its idempotency key no longer counts, on any node. */
  isPast(event: Pick<RecordedEvent, 'recordedAt'>): boolean
  /** Takes in what an actor has read from its stream. */
  learn(events: readonly RecordedEvent[]): void
  /** Takes in what an actor has written. */
  keep(append: KeyedAppend): void
}

/** What all actors of one node stand on: the log, time, chance, and the end of the turn. */
export class Host {
  readonly log: EventLog
  readonly clock: SteadyClock
  readonly entropy: Entropy
  readonly schedule: Schedule
  readonly projections: Projections
  /** `null`: on a node that keeps no index, and takes no request with an `Idempotency-Key`. */
  remembered: RepeatMemory | null = null
  /** Told of every bug that an actor has met and answered for; it must not throw. */
  readonly onBug: (bug: unknown) => void
  /** Heartbeats so far: a coarse time that needs no clock per reading and can't be set back. */
  beat = 0
  /** Goes up when a cellar's policy changes, so that each actor asks for its limit again. */
  limitsEpoch = 0
  /** No new actor is made: the node is stopping. */
  isStopping = false
  /** Nothing is tried again any more: whoever waits is told that the outcome is unknown. */
  gaveUp = false
  #flushing: Flushable[] = []

  constructor(
    parts: Pick<Host, 'log' | 'entropy' | 'schedule' | 'projections' | 'onBug'> & { readonly clock: MachineClock },
  ) {
    this.log = parts.log
    this.clock = new SteadyClock(parts.clock)
    this.entropy = parts.entropy
    this.schedule = parts.schedule
    this.projections = parts.projections
    this.onBug = parts.onBug
  }

  /**
   * Flushes the actor when the turn ends. One callback serves all actors, so that readings that came in one turn, of any
   * keys, reach the log together and share its commit.
   */
  flushSoon(actor: Flushable): void {
    if (this.#flushing.push(actor) === 1) this.schedule.soon(this.#flushAll)
  }

  readonly #flushAll = (): void => {
    const actors = this.#flushing
    this.#flushing = []
    for (const actor of actors) actor.flush()
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.schedule.after(ms, resolve)
    })
  }

  /** From 0 up to, and never, 1: to spread what several nodes would otherwise do at once. */
  chance(): number {
    return (this.entropy.bytes(1)[0] ?? 0) / 256
  }
}

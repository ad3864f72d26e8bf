import type { Projections } from '../../projections/queries.ts'
import type { MachineClock } from '../clock.ts'
import type { Entropy } from '../entropy.ts'
import type { EventLog } from '../log/event-log.ts'
import type { RepeatsIndex } from '../log/repeats-index.ts'
import type { Schedule } from '../schedule.ts'
import { RepeatMemory } from './repeats/repeat-memory.ts'
import { SteadyClock } from './time/steady-clock.ts'

export type Flushable = { flush(): void }

export class ActorContext {
  readonly log: EventLog
  readonly clock: SteadyClock
  readonly entropy: Entropy
  readonly schedule: Schedule
  readonly projections: Projections
  readonly repeats: RepeatMemory
  /** Must not throw. */
  readonly onBug: (bug: unknown) => void
  /** The number of heartbeats since the start: a time that is cheap to read and never goes back. */
  beat = 0
  /** Grows with each change of a cellar, which can alter its keys' limit. Key actors then look up their limit again. */
  limitsEpoch = 0
  /** Readings that this node has stored since its start. */
  storedReadings = 0
  /** The position of the last event or record that this node has received. */
  heardTo = -1
  isStopping = false
  /** No failed append is retried any more, so that the node can end. */
  gaveUp = false
  #flushing: Flushable[] = []

  constructor(
    parts: Pick<ActorContext, 'log' | 'entropy' | 'schedule' | 'projections' | 'onBug'> & {
      readonly clock: MachineClock
      readonly repeatsIndex?: RepeatsIndex | null
    },
  ) {
    this.log = parts.log
    this.clock = new SteadyClock(parts.clock)
    this.entropy = parts.entropy
    this.schedule = parts.schedule
    this.projections = parts.projections
    this.onBug = parts.onBug
    this.repeats = new RepeatMemory(this, parts.repeatsIndex ?? null)
  }

  /** Calls `flush` at the end of this turn of the event loop, for all actors at once. So their appends share a commit. */
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

  /** At least 0, less than 1. */
  chance(): number {
    return (this.entropy.bytes(1)[0] ?? 0) / 256
  }
}

import { refused } from '../domain/refusal.ts'
import { actorIdleMs, actorsMax, heartbeatMs } from '../limits.ts'
import type { Host } from './host.ts'

export type Actor = {
  usedBeat: number
  /** Nothing in its mailbox, nothing under way: it can be let go, and made again from the log. */
  readonly isIdle: boolean
  /** Answers everyone who came in that heartbeat or before. */
  answerOverdue(beat: number): void
  /** Settles whatever waits, and whatever comes after. */
  stop(): void
}

/** The answer to a command when the registry has no room for its actor. */
export const busy = refused({ kind: 'busy' } as const)

/** The actors of one kind that are alive: made when asked for, let go when idle, never more than `actorsMax`. */
export class Registry<A extends Actor> {
  readonly #actors = new Map<string, A>()
  readonly #make: (name: string) => A
  readonly #host: Host
  readonly #max: number

  constructor(host: Host, make: (name: string) => A, max = actorsMax) {
    this.#host = host
    this.#make = make
    this.#max = max
  }

  get size(): number {
    return this.#actors.size
  }

  get isIdle(): boolean {
    for (const actor of this.#actors.values()) if (!actor.isIdle) return false
    return true
  }

  /** The actor of that name. `null` if there is no room: all others are at work, or the node is stopping. */
  get(name: string): A | null {
    if (this.#host.isStopping) return null
    const actor = this.#actors.get(name) ?? this.#add(name)
    if (actor !== null) actor.usedBeat = this.#host.beat
    return actor
  }

  /** The actor of that name if it is alive. */
  alive(name: string): A | null {
    return this.#actors.get(name) ?? null
  }

  /** Once each heartbeat: answers who has waited too long, and lets go who has been idle for `actorIdleMs`. */
  onBeat(beats: { readonly overdue: number }): void {
    const idleSince = this.#host.beat - actorIdleMs / heartbeatMs
    for (const [name, actor] of this.#actors) {
      actor.answerOverdue(beats.overdue)
      if (actor.usedBeat <= idleSince && actor.isIdle) this.#actors.delete(name)
    }
  }

  stop(): void {
    for (const actor of this.#actors.values()) actor.stop()
  }

  #add(name: string): A | null {
    if (this.#actors.size >= this.#max && !this.#letOneGo()) return null
    const actor = this.#make(name)
    this.#actors.set(name, actor)
    return actor
  }

  /** The first that is idle and was not used in this heartbeat; for want of such a one, any that is idle. */
  #letOneGo(): boolean {
    let idle: string | null = null
    for (const [name, actor] of this.#actors) {
      if (!actor.isIdle) continue
      idle ??= name
      if (actor.usedBeat < this.#host.beat) {
        idle = name
        break
      }
    }
    return idle !== null && this.#actors.delete(idle)
  }
}

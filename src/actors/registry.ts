import { refused } from '../domain/refusal.ts'
import { heartbeatMs } from '../limits.ts'
import type { ActorContext } from './actor-context.ts'

const actorsMax = 20_000
export const actorIdleMs = 5 * 60_000

export type Actor = {
  usedBeat: number
  readonly isIdle: boolean
  answerOverdue(beat: number): void
  stop(): void
}

export const busy = refused({ kind: 'busy' } as const)

/** Actors are made when needed, and dropped when idle for `actorIdleMs`. */
export class Registry<A extends Actor> {
  readonly #actors = new Map<string, A>()
  readonly #make: (name: string) => A
  readonly #context: ActorContext
  readonly #max: number

  constructor(context: ActorContext, make: (name: string) => A, max = actorsMax) {
    this.#context = context
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

  /** `null` if all `actorsMax` places hold busy actors, or if the node is stopping. */
  get(name: string): A | null {
    if (this.#context.isStopping) return null
    const actor = this.#actors.get(name) ?? this.#add(name)
    if (actor !== null) actor.usedBeat = this.#context.beat
    return actor
  }

  alive(name: string): A | null {
    return this.#actors.get(name) ?? null
  }

  onBeat(beats: { readonly overdue: number }): void {
    const idleSince = this.#context.beat - actorIdleMs / heartbeatMs
    for (const [name, actor] of this.#actors) {
      actor.answerOverdue(beats.overdue)
      if (actor.usedBeat <= idleSince && actor.isIdle) this.#actors.delete(name)
    }
  }

  stop(): void {
    for (const actor of this.#actors.values()) actor.stop()
  }

  #add(name: string): A | null {
    if (this.#actors.size >= this.#max && !this.#dropIdle()) return null
    const actor = this.#make(name)
    this.#actors.set(name, actor)
    return actor
  }

  /** Prefers an actor that was not used in this heartbeat: a recently used one is probably needed again. */
  #dropIdle(): boolean {
    let idle: string | null = null
    for (const [name, actor] of this.#actors) {
      if (!actor.isIdle) continue
      idle ??= name
      if (actor.usedBeat < this.#context.beat) {
        idle = name
        break
      }
    }
    return idle !== null && this.#actors.delete(idle)
  }
}

import { purgeBefore } from '../../domain/calendar.ts'
import type { KeyState } from '../../domain/key.ts'
import type { ActorContext } from '../actor-context.ts'

/**
 * All keys once a day, a few in each run. After a change of a cellar, another round follows: it can keep its readings for a
 * shorter time now.
 */
export class KeyRounds {
  readonly #context: ActorContext
  #round: Iterator<KeyState> | null = null
  #again: KeyState | null = null
  #rounds = 0
  #begunAt = ''

  constructor(context: ActorContext) {
    this.#context = context
  }

  get isFirst(): boolean {
    return this.#rounds === 1
  }

  *next(now: number, keysMax: number): Generator<KeyState> {
    for (let keys = 0; keys < keysMax; keys += 1) {
      const key = this.#again ?? this.#next(now)
      if (key === null) return
      this.#again = key
      // The caller can end here, by `return` or by an error.
      yield key
      this.#again = null
    }
  }

  #next(now: number): KeyState | null {
    this.#round ??= this.#begin(now)
    const next = this.#round?.next()
    if (next?.done === false) return next.value
    this.#round = null
    return null
  }

  #begin(now: number): Iterator<KeyState> | null {
    const at = `${purgeBefore(now, 0)} ${this.#context.limitsEpoch}`
    if (at === this.#begunAt) return null
    this.#begunAt = at
    this.#rounds += 1
    return this.#keys()
  }

  *#keys(): Generator<KeyState> {
    const { cellars, keys } = this.#context.projections
    for (const { cellar } of cellars.list()) yield* keys.ofCellar(cellar)
  }
}

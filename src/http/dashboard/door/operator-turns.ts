/** Operators take turns, so an operator with 100 tabs delays nobody else. */
import { FairQueue } from '../../../actors/operator/fair-queue.ts'

export type TurnBounds = {
  readonly runningMax: number
  readonly runningPerOperatorMax: number
  readonly waitingMax: number
  readonly waitingPerOperatorMax: number
}

export type Turn = {
  readonly email: string
  readonly signal: AbortSignal | null
}

type Waiting = { readonly email: string; readonly enter: (hasPlace: boolean) => void }

export class OperatorTurns {
  readonly #bounds: TurnBounds
  readonly #waiting: FairQueue<Waiting>
  readonly #running = new Map<string, number>()

  constructor(bounds: TurnBounds) {
    this.#bounds = bounds
    this.#waiting = new FairQueue({ waitingMax: bounds.waitingMax, perOwnerMax: bounds.waitingPerOperatorMax })
  }

  get running(): number {
    return this.#running.values().reduce((sum, count) => sum + count, 0)
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** `null` if too many pages wait, or if the browser has gone. */
  async run<T>({ email, signal }: Turn, make: () => Promise<T>): Promise<T | null> {
    if (!(await this.#enter({ email, signal }))) return null
    try {
      return await make()
    } finally {
      this.#leave(email)
    }
  }

  #enter({ email, signal }: Turn): boolean | Promise<boolean> {
    if (this.#hasPlace(email)) {
      this.#count(email, 1)
      return true
    }
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const waiting = { email, enter: resolve }
    if (!this.#waiting.put(email, waiting)) return false
    signal?.addEventListener('abort', () => {
      this.#waiting.takeOut((one) => one === waiting)
      resolve(false)
    })
    return promise
  }

  readonly #hasPlace = (email: string): boolean =>
    this.running < this.#bounds.runningMax && (this.#running.get(email) ?? 0) < this.#bounds.runningPerOperatorMax

  #count(email: string, change: number): void {
    const count = (this.#running.get(email) ?? 0) + change
    if (count === 0) this.#running.delete(email)
    else this.#running.set(email, count)
  }

  /** Hands the place on, so that no later page comes in between. */
  #leave(email: string): void {
    this.#count(email, -1)
    const next = this.#waiting.next(this.#hasPlace)
    if (next === null) return
    this.#count(next.email, 1)
    next.enter(true)
  }
}

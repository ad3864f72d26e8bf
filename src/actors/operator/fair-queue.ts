type Bounds = { readonly waitingMax: number; readonly perNetworkMax: number }

/**
 * A queue in which networks take turns. So a network with many items delays the next item of another network by one
 * item only.
 */
export class FairQueue<T> {
  /** The first entry is the network whose turn is next. No network has an empty list. */
  readonly #byNetwork = new Map<string, readonly T[]>()
  readonly #bounds: Bounds
  #size = 0

  constructor(bounds: Bounds) {
    this.#bounds = bounds
  }

  get size(): number {
    return this.#size
  }

  /** Returns false if the queue or the network's part of it is full. */
  put(network: string, item: T): boolean {
    const waiting = this.#byNetwork.get(network) ?? []
    if (this.#size >= this.#bounds.waitingMax || waiting.length >= this.#bounds.perNetworkMax) return false
    this.#byNetwork.set(network, [...waiting, item])
    this.#size += 1
    return true
  }

  next(): T | null {
    for (const [network, [first, ...others]] of this.#byNetwork) {
      this.#byNetwork.delete(network)
      if (others.length > 0) this.#byNetwork.set(network, others)
      if (first === undefined) continue
      this.#size -= 1
      return first
    }
    return null
  }

  takeOut(isOut: (item: T) => boolean): readonly T[] {
    const out: T[] = []
    for (const [network, waiting] of this.#byNetwork) {
      const left = waiting.filter((item) => !isOut(item))
      out.push(...waiting.filter(isOut))
      if (left.length === 0) this.#byNetwork.delete(network)
      else this.#byNetwork.set(network, left)
    }
    this.#size -= out.length
    return out
  }
}

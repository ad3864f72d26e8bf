import { givingWayMsMax, heartbeatMs, sharedStreamMs } from '../limits.ts'
import type { Host } from './host.ts'

/**
 * Whether this node should let others write to a stream before it does so again. Of several appends that were decided on
 * the same revision one is written, and the node that made it knows first where the next belongs: left alone it would win
 * every time, and the others, who must read before they may decide anew, would never write. So whoever has met another
 * node in a stream lets a random round trip or two pass between its own appends there, for as long as they meet.
 */
export class GivingWay {
  readonly #host: Host
  /** What to do once it may go on. */
  readonly #goOn: () => void
  #roundTripMs = 1
  #sharedUntilBeat = -1
  /** Pauses that are not over: the one that ends last counts, whichever began last. */
  #pausesLeft = 0

  constructor(host: Host, goOn: () => void) {
    this.#host = host
    this.#goOn = goOn
  }

  /** No append is to be made now; `goOn` is called when that is over. */
  get isGiving(): boolean {
    return this.#pausesLeft > 0
  }

  /** An append was written. */
  afterAppend(tookMs: number): void {
    this.#roundTripMs = Math.max(1, tookMs)
    if (this.#host.beat <= this.#sharedUntilBeat) this.#pause(1)
  }

  /** An append met what another node had written. */
  afterConflict(tookMs: number): void {
    this.#roundTripMs = Math.max(1, tookMs)
    this.#sharedUntilBeat = this.#host.beat + sharedStreamMs / heartbeatMs
    this.#pause(1)
  }

  /** Another node has changed the key, and may have to fence its readings: a conflict, a read and an append, twice at the worst. */
  toFence(): void {
    this.#pause(6)
  }

  #pause(roundTripsMin: number): void {
    this.#pausesLeft += 1
    const ms = Math.min(givingWayMsMax, Math.ceil(this.#roundTripMs * (roundTripsMin + this.#host.chance())))
    this.#host.schedule.after(ms, () => {
      this.#pausesLeft -= 1
      if (!this.isGiving) this.#goOn()
    })
  }
}

import { farTurnEveryMs, farTurnMs, givingWayMsMax, heartbeatMs, sharedStreamMs } from '../../limits.ts'
import type { Host } from '../host.ts'

/**
 * Whether this node should let others write to a stream before it does so again. Of several appends that were decided on
 * the same revision one is written, and the node that made it knows first where the next belongs: left alone it would win
 * every time, and the others, who must read before they may decide anew, would never write. So whoever has met another
 * node in a stream lets a random round trip or two pass between its own appends there, for as long as they meet.
 *
 * One that always wins meets nobody: nodes farther from the store only ever lose, and it hears nothing of that. So on a
 * log of several nodes whoever writes to a stream without pause leaves it to them for a turn, again and again.
 */
export class GivingWay {
  readonly #host: Host
  /** What to do once it may go on. */
  readonly #goOn: () => void
  readonly #farTurnOffsetMs: number
  #roundTripMs = 1
  #sharedUntilBeat = -1
  #appendedMs = Number.NEGATIVE_INFINITY
  #farTurnDueMs = 0
  /** Pauses that are not over: the one that ends last counts, whichever began last. */
  #pausesLeft = 0

  constructor(host: Host, keyId: string, goOn: () => void) {
    this.#host = host
    this.#farTurnOffsetMs = offsetOf(keyId)
    this.#goOn = goOn
  }

  /** No append is to be made now; `goOn` is called when that is over. */
  get isGiving(): boolean {
    return this.#pausesLeft > 0
  }

  /** An append was written. */
  afterAppend(tookMs: number): void {
    this.#roundTripMs = Math.max(1, tookMs)
    if (this.#isFarTurnDue()) this.#pause(farTurnMs)
    else if (this.#host.beat <= this.#sharedUntilBeat) this.#pause(this.#roundTripsMs(1))
  }

  /** An append met what another node had written. */
  afterConflict(tookMs: number): void {
    this.#roundTripMs = Math.max(1, tookMs)
    this.#sharedUntilBeat = this.#host.beat + sharedStreamMs / heartbeatMs
    this.#pause(this.#roundTripsMs(1))
  }

  /** Another node has changed the key, and may have to fence its readings: a conflict, a read and an append, twice at the worst. */
  toFence(): void {
    this.#pause(this.#roundTripsMs(6))
  }

  /**
   * By the clock, so that all who write to a stream leave it together, as far as their clocks agree; and each key at a
   * time of its own. One that rests for so long by itself, as all but the busiest do, is not held up.
   */
  #isFarTurnDue(): boolean {
    if (this.#host.log.lags !== true) return false
    const now = this.#host.clock.now()
    const restedMs = now - this.#appendedMs
    this.#appendedMs = now
    // A clock that was set back begins anew.
    if (restedMs >= 0 && restedMs < farTurnMs) return now >= this.#farTurnDueMs
    const earliestMs = now + farTurnEveryMs / 2 - this.#farTurnOffsetMs
    this.#farTurnDueMs = Math.ceil(earliestMs / farTurnEveryMs) * farTurnEveryMs + this.#farTurnOffsetMs
    return false
  }

  #roundTripsMs(min: number): number {
    return Math.min(givingWayMsMax, Math.ceil(this.#roundTripMs * (min + this.#host.chance())))
  }

  #pause(ms: number): void {
    this.#pausesLeft += 1
    this.#host.schedule.after(ms, () => {
      this.#pausesLeft -= 1
      if (!this.isGiving) this.#goOn()
    })
  }
}

/** In ms; the same on every node. */
const offsetOf = (keyId: string): number => {
  let offset = 0
  for (const letter of keyId) offset = (offset * 31 + letter.charCodeAt(0)) % farTurnEveryMs
  return offset
}

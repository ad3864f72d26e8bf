import { heartbeatMs } from '../../limits.ts'
import type { ActorContext, Flushable } from '../actor-context.ts'

/** The longest pause for another node. Without pauses, one node wins every conflict. */
export const givingWayMsMax = 100
/** Long enough for a node with a round trip to EventStoreDB of half this time to append, too. */
export const farTurnMs = 50
/** A busy node spends at most a twelfth of its time on far turns. */
const farTurnEveryMs = 600
/** How long after a conflict a node still pauses for others. It must be a multiple of `heartbeatMs`. */
export const sharedStreamMs = 5_000

/**
 * After a conflict the pause is random. A node that always wins meets no conflict, so it also pauses regularly: a far turn
 * (docs/protocol.md, "Appending a reading").
 */
export class StreamSharing {
  readonly #context: ActorContext
  /** An object and not a callback, because 10,000 actors would hold 10,000 functions. */
  readonly #owner: Flushable
  readonly #farTurnOffsetMs: number
  #roundTripMs = 1
  #sharedUntilBeat = -1
  #appendedMs = Number.NEGATIVE_INFINITY
  #farTurnDueMs = 0
  /** A counter, because pauses can overlap. */
  #pausesLeft = 0

  constructor(context: ActorContext, keyId: string, owner: Flushable) {
    this.#context = context
    this.#farTurnOffsetMs = offsetOf(keyId)
    this.#owner = owner
  }

  /** While it is true, the actor must begin no append. `flush` is called when the last pause ends. */
  get isPausing(): boolean {
    return this.#pausesLeft > 0
  }

  afterAppend(tookMs: number): void {
    this.#roundTripMs = Math.max(1, tookMs)
    if (this.#isFarTurnDue()) this.#pause(farTurnMs)
    else if (this.#context.beat <= this.#sharedUntilBeat) this.#pause(this.#roundTripsMs(1))
  }

  afterConflict(tookMs: number): void {
    this.#roundTripMs = Math.max(1, tookMs)
    this.#sharedUntilBeat = this.#context.beat + sharedStreamMs / heartbeatMs
    this.#pause(this.#roundTripsMs(1))
  }

  /** For another node's fence. It needs at most six round trips: a conflict, a read and an append, twice. */
  pauseForFence(): void {
    this.#pause(this.#roundTripsMs(6))
  }

  /**
   * All nodes compute the time of the far turn from the clock, so all busy nodes pause together. If this node has not
   * appended for `farTurnMs`, other nodes had time already.
   */
  #isFarTurnDue(): boolean {
    if (this.#context.log.lags !== true) return false
    const now = this.#context.clock.now()
    const restedMs = now - this.#appendedMs
    this.#appendedMs = now
    // Negative if the clock was set back. Then the old time of the next far turn can be far ahead.
    if (restedMs >= 0 && restedMs < farTurnMs) return now >= this.#farTurnDueMs
    const earliestMs = now + farTurnEveryMs / 2 - this.#farTurnOffsetMs
    this.#farTurnDueMs = Math.ceil(earliestMs / farTurnEveryMs) * farTurnEveryMs + this.#farTurnOffsetMs
    return false
  }

  #roundTripsMs(min: number): number {
    return Math.min(givingWayMsMax, Math.ceil(this.#roundTripMs * (min + this.#context.chance())))
  }

  #pause(ms: number): void {
    this.#pausesLeft += 1
    this.#context.schedule.after(ms, () => {
      this.#pausesLeft -= 1
      if (!this.isPausing) this.#owner.flush()
    })
  }
}

/** In ms after each multiple of `farTurnEveryMs`. It follows from the key's id, so that all nodes pause together. */
const offsetOf = (keyId: string): number => {
  let offset = 0
  for (const letter of keyId) offset = (offset * 31 + letter.charCodeAt(0)) % farTurnEveryMs
  return offset
}

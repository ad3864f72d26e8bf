import { heartbeatMs } from '../../limits.ts'
import type { ActorContext, Flushable } from '../actor-context.ts'

/**
 * The longest pause in which a node lets another node append to the same stream. Without pauses, one node wins every conflict.
 */
export const givingWayMsMax = 100
/**
 * A busy node pauses for this time. So nodes far from EventStoreDB, with a round trip up to half of this time, can append, too.
 */
export const farTurnMs = 50
/** How often a busy node pauses for `farTurnMs`, which takes at most a twelfth of its time. */
const farTurnEveryMs = 600
/**
 * How long after a conflict in a stream a node still makes pauses for other nodes. The node counts this time in heartbeats, so
 * it must be a multiple of `heartbeatMs`.
 */
export const sharedStreamMs = 5_000

/**
 * Pauses this node's appends to a stream, so that other nodes can append to the same stream. After a conflict the pause
 * is random. A node that always wins meets no conflict, so it also pauses regularly: a far turn (docs/protocol.md,
 * "Appending a reading").
 */
export class StreamSharing {
  readonly #context: ActorContext
  /** An object and not a function, because 10,000 actors would hold 10,000 functions. */
  readonly #owner: Flushable
  readonly #farTurnOffsetMs: number
  #roundTripMs = 1
  #sharedUntilBeat = -1
  #appendedMs = Number.NEGATIVE_INFINITY
  #farTurnDueMs = 0
  /** Number of pauses that have not ended. Pauses can overlap. */
  #pausesLeft = 0

  constructor(context: ActorContext, keyId: string, owner: Flushable) {
    this.#context = context
    this.#farTurnOffsetMs = offsetOf(keyId)
    this.#owner = owner
  }

  /** True during a pause, in which the actor must begin no append. `flush` is called when the last pause ends. */
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

  /**
   * Called when another node has changed the key. The pause leaves time for that node's fence event (docs/protocol.md).
   * The fence needs at most six round trips: a conflict, a read and an append, twice.
   */
  pauseForFence(): void {
    this.#pause(this.#roundTripsMs(6))
  }

  /**
   * True if a far turn is due (docs/protocol.md). All nodes compute its time from the clock. So all busy nodes pause
   * together, and a node far from the store can append. If this node appended nothing for `farTurnMs` before this
   * append, other nodes had time already, so no far turn is due.
   */
  #isFarTurnDue(): boolean {
    if (this.#context.log.lags !== true) return false
    const now = this.#context.clock.now()
    const restedMs = now - this.#appendedMs
    this.#appendedMs = now
    // `restedMs` is negative if the clock was set back. Then the time of the next far turn is computed again, because the
    // old time can be far ahead.
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

/**
 * Returns when far turns begin, in ms after each multiple of `farTurnEveryMs`. The time is computed from the key's id,
 * so that all nodes pause together.
 */
const offsetOf = (keyId: string): number => {
  let offset = 0
  for (const letter of keyId) offset = (offset * 31 + letter.charCodeAt(0)) % farTurnEveryMs
  return offset
}

import type { LogItem } from '../../domain/reading/recorded-run.ts'
import { heartbeatMs } from '../../limits.ts'
import type { ActorContext } from '../actor-context.ts'

/** If the time of an event is more than this ahead of this node's clock, the node warns that the clocks of nodes differ. */
export const clockDifferenceMsMax = 1_000
/**
 * A clock warning ends after this time without an event that is ahead of the clock. The node counts this time in heartbeats, so
 * it must be a multiple of `heartbeatMs`.
 */
export const clockCalmMs = 60_000
/** If an event of another node arrives more than this after it was recorded, the node reports a lag. */
export const lagMsMax = 5_000
/**
 * After this time without a late event, the node no longer reports a lag. The node counts this time in heartbeats, so it must
 * be a multiple of `heartbeatMs`.
 */
export const lagCalmMs = 10_000

/**
 * - `ahead`: an event has a time in the future. `late`: an event arrives more than `lagMsMax` after its time.
 * - `leapt`: this node's clock jumped ahead, so the node does not use its time yet.
 * - `doubted`: this node's clock is far ahead, so the node purges nothing.
 */
export type TimesTold =
  | { readonly kind: 'ahead' | 'late' | 'leapt' | 'doubted'; readonly byMs: number }
  | { readonly kind: 'ahead_no_more' | 'late_no_more' | 'leapt_no_more' | 'doubted_no_more' }

/**
 * Compares the times of events with this node's clock. An event from the future proves that two clocks differ
 * (docs/protocol.md, "Versions and clocks"). A late event is the only sign that this node receives other nodes' changes
 * with a delay.
 */
export class ClockWatch {
  readonly #context: ActorContext
  readonly #ahead: Warning
  readonly #late: Warning
  readonly #leapt: Warning
  #isCaughtUp = false

  constructor(context: ActorContext, onTimes: (told: TimesTold) => void) {
    this.#context = context
    const warning = (kind: 'ahead' | 'late' | 'leapt', calmMs: number): Warning =>
      new Warning(calmMs / heartbeatMs, {
        onBegin: (byMs) => onTimes({ kind, byMs }),
        onEnd: () => onTimes({ kind: `${kind}_no_more` }),
      })
    this.#ahead = warning('ahead', clockCalmMs)
    this.#late = warning('late', lagCalmMs)
    this.#leapt = warning('leapt', heartbeatMs)
  }

  /**
   * Call this method when the start has read all old events. Before this call no event counts as late, because old
   * events always arrive long after their time.
   */
  caughtUp(): void {
    this.#isCaughtUp = true
  }

  hear(items: readonly Pick<LogItem, 'recordedAt'>[]): void {
    // Looks only at the newest time of the events. An older time can come from a node whose clock is behind, and would
    // look like a delay of events.
    let newest = 0
    for (const { recordedAt } of items) if (recordedAt > newest) newest = recordedAt
    const lateMs = this.#context.clock.now() - newest
    // `context.clock` does not follow a jump of the machine's clock at once. Without `leapMs`, a right clock that jumped
    // because the machine slept would cause the warning `ahead`.
    const aheadMs = -lateMs - this.#context.clock.leapMs()
    if (aheadMs > clockDifferenceMsMax) this.#ahead.see(aheadMs, this.#context.beat)
    if (lateMs > lagMsMax && this.#isCaughtUp) this.#late.see(lateMs, this.#context.beat)
  }

  onBeat(): void {
    this.#ahead.onBeat(this.#context.beat)
    this.#late.onBeat(this.#context.beat)
    const leapMs = this.#context.clock.leapMs()
    if (leapMs > 0) this.#leapt.see(leapMs, this.#context.beat)
    this.#leapt.onBeat(this.#context.beat)
  }
}

/** Calls `onBegin` when a fault is seen first, and `onEnd` when the fault was not seen for `calmBeats` heartbeats. */
class Warning {
  readonly #calmBeats: number
  readonly #told: { onBegin(byMs: number): void; onEnd(): void }
  #seenBeat: number | null = null

  constructor(calmBeats: number, told: { onBegin(byMs: number): void; onEnd(): void }) {
    this.#calmBeats = calmBeats
    this.#told = told
  }

  see(byMs: number, beat: number): void {
    const isNew = this.#seenBeat === null
    this.#seenBeat = beat
    if (isNew) this.#told.onBegin(byMs)
  }

  onBeat(beat: number): void {
    if (this.#seenBeat === null || beat - this.#seenBeat < this.#calmBeats) return
    this.#seenBeat = null
    this.#told.onEnd()
  }
}

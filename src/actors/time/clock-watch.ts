import type { LogItem } from '../../domain/reading/recorded-run.ts'
import { heartbeatMs } from '../../limits.ts'
import type { ActorContext } from '../actor-context.ts'

export const clockDifferenceMsMax = 1_000
/** The warning ends after this time without an event from the future. It must be a multiple of `heartbeatMs`. */
export const clockCalmMs = 60_000
export const lagMsMax = 5_000
/** The report of a lag ends after this time without a late event. It must be a multiple of `heartbeatMs`. */
export const lagCalmMs = 10_000

/**
 * - `ahead`: an event has a time in the future.
 * - `late`: an event arrives more than `lagMsMax` after its time.
 * - `leapt`: this node's clock jumped ahead, so the node does not use its time yet.
 * - `doubted`: this node's clock is far ahead, so the node purges nothing.
 */
export type TimesTold =
  | { readonly kind: 'ahead' | 'late' | 'leapt' | 'doubted'; readonly byMs: number }
  | { readonly kind: 'ahead_no_more' | 'late_no_more' | 'leapt_no_more' | 'doubted_no_more' }

/**
 * An event from the future proves that two clocks differ. A late event is the only sign that other nodes' changes come with
 * a delay.
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

  /** The start has read all old events. Until then none counts as late: they always arrive long after their time. */
  caughtUp(): void {
    this.#isCaughtUp = true
  }

  hear(items: readonly Pick<LogItem, 'recordedAt'>[]): void {
    // Only the newest time counts: an older one can come from a node whose clock is behind, and would look like a delay.
    let newest = 0
    for (const { recordedAt } of items) if (recordedAt > newest) newest = recordedAt
    const lateMs = this.#context.clock.now() - newest
    // `context.clock` does not follow a jump at once. Without `leapMs`, a right clock that jumped because the machine slept
    // would cause `ahead`.
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

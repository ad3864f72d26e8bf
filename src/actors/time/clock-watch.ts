import type { RecordedEvent } from '../../domain/events.ts'
import { clockCalmMs, clockDifferenceMsMax, heartbeatMs, lagCalmMs, lagMsMax } from '../../limits.ts'
import type { Host } from '../host.ts'

/**
 * `byMs`: how far the event was off that showed it first. `leapt`, `doubted`: how far the clock is, by which nothing is
 * judged then, or nothing is purged.
 */
export type TimesTold =
  | { readonly kind: 'ahead' | 'late' | 'leapt' | 'doubted'; readonly byMs: number }
  | { readonly kind: 'ahead_no_more' | 'late_no_more' | 'leapt_no_more' | 'doubted_no_more' }

/**
 * Compares the times of the newest events with this node's clock (docs/protocol.md, "Versions and clocks"). Tells when they
 * begin to differ too much, and when that ends.
 *
 * An event can be heard late, and never early. So one from ahead proves that two clocks differ, and of two nodes that write
 * the slower one meets it; one from behind proves nothing but that something is late: the subscription, the append that was
 * tried for long, or the clock of who wrote it. Of the events that come together the newest by its own time is looked at,
 * since one slow node among others is no lag. A clock that has leapt is told of too: not believed, it is still what an event
 * from ahead is held against, since after a sleep the others' are.
 */
export class ClockWatch {
  readonly #host: Host
  readonly #ahead: Spell
  readonly #late: Spell
  readonly #leapt: Spell
  #isCaughtUp = false

  constructor(host: Host, onTimes: (told: TimesTold) => void) {
    this.#host = host
    const spell = (kind: 'ahead' | 'late' | 'leapt', calmMs: number): Spell =>
      new Spell(calmMs / heartbeatMs, {
        onBegin: (byMs) => onTimes({ kind, byMs }),
        onEnd: () => onTimes({ kind: `${kind}_no_more` }),
      })
    this.#ahead = spell('ahead', clockCalmMs)
    this.#late = spell('late', lagCalmMs)
    this.#leapt = spell('leapt', heartbeatMs)
  }

  /** What comes from now on is news, and no history. */
  caughtUp(): void {
    this.#isCaughtUp = true
  }

  hear(events: readonly RecordedEvent[]): void {
    let newest = 0
    for (const { recordedAt } of events) if (recordedAt > newest) newest = recordedAt
    const lateMs = this.#host.clock.now() - newest
    const aheadMs = -lateMs - this.#host.clock.leapMs()
    if (aheadMs > clockDifferenceMsMax) this.#ahead.see(aheadMs, this.#host.beat)
    if (lateMs > lagMsMax && this.#isCaughtUp) this.#late.see(lateMs, this.#host.beat)
  }

  onBeat(): void {
    this.#ahead.onBeat(this.#host.beat)
    this.#late.onBeat(this.#host.beat)
    // Asked at each beat, so that a leap is met soon and what the clock gains slowly is none.
    const leapMs = this.#host.clock.leapMs()
    if (leapMs > 0) this.#leapt.see(leapMs, this.#host.beat)
    this.#leapt.onBeat(this.#host.beat)
  }
}

/** Something that is told when it begins and when it has not been seen for a while, however often it is seen in between. */
class Spell {
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

import type { LogItem } from '../../domain/reading/recorded-run.ts'
import { clockCalmMs, clockDifferenceMsMax, heartbeatMs, keysAheadNamesMax, lagCalmMs, lagMsMax } from '../../limits.ts'
import type { Host } from '../host.ts'

/**
 * - `ahead`: an event has a time in the future. `late`: an event arrives more than `lagMsMax` after its time.
 * - `leapt`: this node's clock jumped ahead, so the node does not use its time yet.
 * - `doubted`: this node's clock is far ahead, so the node purges nothing.
 * - `keys_ahead`: the last readings of these keys have a time in the future, and their windows are full until then.
 *   `byMs` is the longest such time. `areMore`: other keys wait, too.
 */
export type TimesTold =
  | {
      readonly kind: 'keys_ahead'
      readonly byMs: number
      readonly keys: readonly string[]
      readonly areMore: boolean
    }
  | { readonly kind: 'ahead' | 'late' | 'leapt' | 'doubted'; readonly byMs: number }
  | { readonly kind: 'ahead_no_more' | 'late_no_more' | 'leapt_no_more' | 'doubted_no_more' }

/**
 * Compares the times of events with this node's clock. An event from the future proves that two clocks differ
 * (docs/protocol.md, "Versions and clocks"). A late event is the only sign that this node receives other nodes' changes
 * with a delay.
 */
export class ClockWatch {
  readonly #host: Host
  readonly #ahead: Warning
  readonly #late: Warning
  readonly #leapt: Warning
  readonly #keysAhead: KeysAhead
  #isCaughtUp = false

  constructor(host: Host, onTimes: (told: TimesTold) => void) {
    this.#host = host
    const warning = (kind: 'ahead' | 'late' | 'leapt', calmMs: number): Warning =>
      new Warning(calmMs / heartbeatMs, {
        onBegin: (byMs) => onTimes({ kind, byMs }),
        onEnd: () => onTimes({ kind: `${kind}_no_more` }),
      })
    this.#ahead = warning('ahead', clockCalmMs)
    this.#late = warning('late', lagCalmMs)
    this.#leapt = warning('leapt', heartbeatMs)
    this.#keysAhead = new KeysAhead(onTimes)
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
    const lateMs = this.#host.clock.now() - newest
    // `host.clock` does not follow a jump of the machine's clock at once. Without `leapMs`, a right clock that jumped
    // because the machine slept would cause the warning `ahead`.
    const aheadMs = -lateMs - this.#host.clock.leapMs()
    if (aheadMs > clockDifferenceMsMax) this.#ahead.see(aheadMs, this.#host.beat)
    if (lateMs > lagMsMax && this.#isCaughtUp) this.#late.see(lateMs, this.#host.beat)
  }

  /** Call this when a key must wait until the clock reaches the time of its last reading. */
  seeKey(keyId: string, byMs: number): void {
    if (byMs > clockDifferenceMsMax) this.#keysAhead.see(keyId, byMs)
  }

  onBeat(): void {
    this.#keysAhead.onBeat(this.#host.beat)
    this.#ahead.onBeat(this.#host.beat)
    this.#late.onBeat(this.#host.beat)
    const leapMs = this.#host.clock.leapMs()
    if (leapMs > 0) this.#leapt.see(leapMs, this.#host.beat)
    this.#leapt.onBeat(this.#host.beat)
  }
}

/** Names the waiting keys in one line at most every `clockCalmMs`, because each of their requests is seen. */
class KeysAhead {
  readonly #onTimes: (told: TimesTold) => void
  readonly #keys = new Set<string>()
  #byMs = 0
  #areMore = false
  #toldBeat = Number.NEGATIVE_INFINITY

  constructor(onTimes: (told: TimesTold) => void) {
    this.#onTimes = onTimes
  }

  see(keyId: string, byMs: number): void {
    if (this.#keys.size < keysAheadNamesMax) this.#keys.add(keyId)
    else if (!this.#keys.has(keyId)) this.#areMore = true
    this.#byMs = Math.max(this.#byMs, byMs)
  }

  onBeat(beat: number): void {
    if (this.#keys.size === 0 || beat - this.#toldBeat < clockCalmMs / heartbeatMs) return
    this.#onTimes({ kind: 'keys_ahead', byMs: this.#byMs, keys: [...this.#keys], areMore: this.#areMore })
    this.#toldBeat = beat
    this.#keys.clear()
    this.#byMs = 0
    this.#areMore = false
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

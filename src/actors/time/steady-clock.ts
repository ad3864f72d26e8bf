import type { Clock, MachineClock } from '../../clock.ts'
import { clockStandMs, clockStepMsMax } from '../../limits.ts'

/**
 * The time by which the node judges and records (docs/decisions/017-clocks.md): the machine's clock, but without short
 * jumps ahead. After a jump, time goes on from the last believed time until the machine's clock has stayed ahead for
 * `clockStandMs`.
 */
export class SteadyClock implements Clock {
  readonly #machine: MachineClock
  #believed: Moment
  /** The first moment after the jump. */
  #leap: Moment | null = null

  constructor(machine: MachineClock) {
    this.#machine = machine
    this.#believed = momentOf(machine)
  }

  now(): number {
    const nowMs = this.#machine.now()
    const sinceMs = nowMs - this.#believed.nowMs
    // The fast path, about five times per reading. Such a small step is no jump.
    if (sinceMs >= 0 && sinceMs <= clockStepMsMax && this.#leap === null) return nowMs
    return this.#judge({ nowMs, passedMs: this.#machine.passedMs() })
  }

  #judge(moment: Moment): number {
    const believedMs = continued(this.#believed, moment.passedMs)
    if (moment.nowMs - believedMs > clockStepMsMax && !this.#hasStayed(moment)) return believedMs
    this.#believed = moment
    this.#leap = null
    return moment.nowMs
  }

  /** Ms that the machine's clock is ahead of the believed time; 0 without a jump. */
  leapMs(): number {
    const believedMs = this.now()
    return this.#leap === null ? 0 : this.#machine.now() - believedMs
  }

  /** Another jump starts the wait again. */
  #hasStayed(moment: Moment): boolean {
    const leap = this.#leap
    if (leap !== null && Math.abs(moment.nowMs - continued(leap, moment.passedMs)) <= clockStepMsMax) {
      return moment.passedMs - leap.passedMs >= clockStandMs
    }
    this.#leap = moment
    return false
  }
}

/** `passedMs` is the machine's monotonic time, which nobody can set. */
type Moment = { readonly nowMs: number; readonly passedMs: number }

const momentOf = (machine: MachineClock): Moment => ({ nowMs: machine.now(), passedMs: machine.passedMs() })

/** What the clock must show now if nobody has set it since `then`. */
const continued = (then: Moment, passedMs: number): number => then.nowMs + Math.floor(passedMs - then.passedMs)

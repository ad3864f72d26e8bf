import type { Clock, MachineClock } from '../../clock.ts'

/** A clock that jumps further ahead is trusted only when it has stayed there for `clockStandMs`. */
export const clockStepMsMax = 1_000
export const clockStandMs = 5_000

/**
 * docs/decisions/017-clocks.md. After a jump ahead, time goes on from the last trusted time until the machine's clock has
 * stayed there for `clockStandMs`.
 */
export class SteadyClock implements Clock {
  readonly #machine: MachineClock
  #believed: Moment
  #leap: Moment | null = null

  constructor(machine: MachineClock) {
    this.#machine = machine
    this.#believed = momentOf(machine)
  }

  now(): number {
    const nowMs = this.#machine.now()
    const sinceMs = nowMs - this.#believed.nowMs
    // The fast path, because each reading calls `now` about five times.
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

  leapMs(): number {
    const believedMs = this.now()
    return this.#leap === null ? 0 : this.#machine.now() - believedMs
  }

  #hasStayed(moment: Moment): boolean {
    const leap = this.#leap
    if (leap !== null && Math.abs(moment.nowMs - continued(leap, moment.passedMs)) <= clockStepMsMax) {
      return moment.passedMs - leap.passedMs >= clockStandMs
    }
    this.#leap = moment
    return false
  }
}

/** `nowMs`: the machine's clock. `passedMs`: its monotonic time, which nobody can set. */
type Moment = { readonly nowMs: number; readonly passedMs: number }

const momentOf = (machine: MachineClock): Moment => ({ nowMs: machine.now(), passedMs: machine.passedMs() })

/** What the machine's clock shows now if nobody has set it after `then`. */
const continued = (then: Moment, passedMs: number): number => then.nowMs + Math.floor(passedMs - then.passedMs)

import type { Clock, MachineClock } from '../../clock.ts'
import { clockStandMs, clockStepMsMax } from '../../limits.ts'

/**
 * The time by which everything is judged and recorded: the machine's clock, unless that has gone further ahead than time
 * has passed. A clock that is ahead for one moment would tell of expiries that have not come, and date readings by a time
 * that their key can't go back behind. So a leap is believed when it has stood for some seconds, as after the machine
 * slept; until then time goes on from what was believed before. A clock that goes back is believed at once.
 */
export class SteadyClock implements Clock {
  readonly #machine: MachineClock
  /** What was believed last, ms, and when by the time that passes. */
  #believed: Moment
  /** What the clock said when it was first seen to have leapt. */
  #leap: Moment | null = null

  constructor(machine: MachineClock) {
    this.#machine = machine
    this.#believed = momentOf(machine)
  }

  now(): number {
    const nowMs = this.#machine.now()
    const sinceMs = nowMs - this.#believed.nowMs
    // Asked some five times for each reading: so little ahead of what was believed it is no leap, however little has passed.
    if (sinceMs >= 0 && sinceMs <= clockStepMsMax && this.#leap === null) return nowMs
    return this.#judge({ nowMs, passedMs: this.#machine.passedMs() })
  }

  #judge(moment: Moment): number {
    const believedMs = goneOn(this.#believed, moment.passedMs)
    if (moment.nowMs - believedMs > clockStepMsMax && !this.#hasStood(moment)) return believedMs
    this.#believed = moment
    this.#leap = null
    return moment.nowMs
  }

  /** By how many ms the machine's clock lies ahead of what is believed; 0 if it is believed. */
  leapMs(): number {
    const believedMs = this.now()
    return this.#leap === null ? 0 : this.#machine.now() - believedMs
  }

  /** Each leap to another time has to stand for itself. */
  #hasStood(moment: Moment): boolean {
    const leap = this.#leap
    if (leap !== null && Math.abs(moment.nowMs - goneOn(leap, moment.passedMs)) <= clockStepMsMax) {
      return moment.passedMs - leap.passedMs >= clockStandMs
    }
    this.#leap = moment
    return false
  }
}

type Moment = { readonly nowMs: number; readonly passedMs: number }

const momentOf = (machine: MachineClock): Moment => ({ nowMs: machine.now(), passedMs: machine.passedMs() })

/** What a clock that said this then says now, if nobody has set it. */
const goneOn = (then: Moment, passedMs: number): number => then.nowMs + Math.floor(passedMs - then.passedMs)

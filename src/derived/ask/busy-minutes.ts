import type { HourCount } from '../../log/ask-index.ts'

/** Minutes of the hour. A minute at either end can be a part of one, because a flush can come in the middle of it. */
export type MinutesTaken = {
  readonly first: number
  readonly inFirst: number
  readonly last: number
  readonly inLast: number
  /** The most readings of one of the minutes. */
  readonly busiest: number
}

export type FoldedHour = Omit<HourCount, 'busiest'> & { readonly minutes: MinutesTaken }

/** Of refusals. */
export const noMinutes: MinutesTaken = { first: 0, inFirst: 0, last: 0, inLast: 0, busiest: 0 }

/** Minutes of one hour, in the order of time. */
export class BusyMinutes {
  #first = 0
  /** 0: the first minute is still the last one. */
  #inFirst = 0
  #last = 0
  #inLast = 0
  #busiest = 0

  add(minute: number, count: number): void {
    if (this.#inLast === 0) this.#first = minute
    else if (this.#last !== minute) this.#end()
    this.#last = minute
    this.#inLast += count
  }

  #end(): void {
    if (this.#inFirst === 0) this.#inFirst = this.#inLast
    this.#busiest = Math.max(this.#busiest, this.#inLast)
    this.#inLast = 0
  }

  take(): MinutesTaken {
    const inLast = this.#inLast
    const taken = {
      first: this.#first,
      inFirst: this.#inFirst === 0 ? inLast : this.#inFirst,
      last: this.#last,
      inLast,
      busiest: Math.max(this.#busiest, inLast),
    }
    this.#inFirst = 0
    this.#inLast = 0
    this.#busiest = 0
    return taken
  }
}

type TroubleBounds = {
  /** This number of checks in a row must find a failure before it is shown. 0: it is shown immediately. */
  readonly beginsAfterLooks: number
  /** After this number of checks in a row without a new failure, it is over. */
  readonly endsAfterLooks: number
}

/**
 * `why` describes the failure until `end` is called, or until several checks found no new one. A timer calls `look` for
 * each check.
 */
export class Trouble {
  #why: string | null = null
  readonly #bounds: TroubleBounds
  #noted: string | null = null
  #looksWith = 0
  #looksWithout = 0

  constructor(bounds: TroubleBounds) {
    this.#bounds = bounds
  }

  get why(): string | null {
    return this.#why
  }

  /** No failure is shown or waits, so the timer that calls `look` can stop. */
  get isOver(): boolean {
    return this.#why === null && this.#noted === null && this.#looksWith === 0
  }

  note(why: string): void {
    this.#noted = why
    if (this.#why !== null || this.#bounds.beginsAfterLooks === 0) this.#why = why
  }

  end(): void {
    this.#why = null
    this.#noted = null
    this.#looksWith = 0
    this.#looksWithout = 0
  }

  look(): void {
    if (this.#noted === null) {
      this.#looksWith = 0
      this.#looksWithout += 1
      if (this.#looksWithout >= this.#bounds.endsAfterLooks) this.#why = null
      return
    }
    this.#looksWith += 1
    this.#looksWithout = 0
    if (this.#looksWith >= this.#bounds.beginsAfterLooks) this.#why = this.#noted
    this.#noted = null
  }
}

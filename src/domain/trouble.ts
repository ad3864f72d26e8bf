export type TroubleBounds = {
  /** `Trouble.why` shows a failure when this many checks in a row have found it. 0: the failure is shown immediately. */
  readonly beginsAfterLooks: number
  /** `Trouble.why` no longer shows the failure after this number of checks in a row without a new failure. */
  readonly endsAfterLooks: number
}

/**
 * A failure of the node, such as a full disk. `why` describes the failure until `end` is called, or until several checks
 * found no new failure. A timer calls `look` for each check.
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

  /** True if `why` shows no failure, and no failure waits for the next check. The timer that calls `look` can then stop. */
  get isOver(): boolean {
    return this.#why === null && this.#noted === null && this.#looksWith === 0
  }

  note(why: string): void {
    this.#noted = why
    if (this.#why !== null || this.#bounds.beginsAfterLooks === 0) this.#why = why
  }

  /** Call this after a success, because the failure is over. */
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

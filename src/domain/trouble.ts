export type TroubleBounds = {
  /** The failure is shown after this number of looks in a row that found one. 0 shows it immediately. */
  readonly beginsAfterLooks: number
  /** The trouble is over after this number of looks in a row without a new failure. */
  readonly endsAfterLooks: number
}

/** A failure that is shown until a success, or until several looks found no new failure. A timer calls `look`. */
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

  /** True if the timer for `look` can stop. */
  get isOver(): boolean {
    return this.#why === null && this.#noted === null && this.#looksWith === 0
  }

  note(why: string): void {
    this.#noted = why
    if (this.#why !== null || this.#bounds.beginsAfterLooks === 0) this.#why = why
  }

  /** Call it after a success. */
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

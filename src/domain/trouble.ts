export type TroubleBounds = {
  /** In a row. 0: the trouble is shown immediately. */
  readonly beginsAfterLooks: number
  /** In a row. */
  readonly endsAfterLooks: number
}

/** A failure that is shown until a success, or until a number of regular looks found no new failure. */
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

  /** Looks would change nothing. */
  get isOver(): boolean {
    return this.#why === null && this.#noted === null && this.#looksWith === 0
  }

  note(why: string): void {
    this.#noted = why
    if (this.#why !== null || this.#bounds.beginsAfterLooks === 0) this.#why = why
  }

  /** After a success. */
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

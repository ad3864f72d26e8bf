export type TroubleBounds = {
  /** Told when this many looks in a row saw it. 0: at once. */
  readonly beginsAfterLooks: number
  /** Over after this many looks without it. */
  readonly endsAfterLooks: number
}

/** A trouble that is noted when something fails, and is over after a success or some calm time, counted in looks. */
export class Trouble {
  #why: string | null = null
  readonly #bounds: TroubleBounds
  #noted: string | null = null
  #looksWith = 0
  #looksWithout = 0

  constructor(bounds: TroubleBounds) {
    this.#bounds = bounds
  }

  /** Its last cause while it is told, else `null`. */
  get why(): string | null {
    return this.#why
  }

  /** Nothing is told, and looks would change nothing. */
  get isOver(): boolean {
    return this.#why === null && this.#noted === null && this.#looksWith === 0
  }

  note(why: string): void {
    this.#noted = why
    if (this.#why !== null || this.#bounds.beginsAfterLooks === 0) this.#why = why
  }

  /** It is over: what failed has succeeded. */
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

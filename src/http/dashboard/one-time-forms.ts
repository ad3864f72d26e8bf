import { oneTimeFormsMax } from '../../limits.ts'

/** `foreign`: handed out by another process, or so long ago that nobody remembers whether it was sent. */
export type FormUse = 'first' | 'again' | 'foreign'

/**
 * A number in a form that may be sent once: the form that creates a key makes one key, however often it is sent or its
 * answer reloaded. In memory: a number from before a restart is foreign, and the form is shown again with a new one.
 */
export class OneTimeForms {
  readonly #process: string
  #handedOut = 0
  /** Those not sent yet, oldest first. */
  readonly #open = new Set<number>()
  #forgottenTo = 0

  /** `process` tells this process's numbers from any other's. */
  constructor(process: string) {
    this.#process = process
  }

  handOut(): string {
    this.#handedOut += 1
    this.#open.add(this.#handedOut)
    if (this.#open.size > oneTimeFormsMax) this.#forgetOldest()
    return `${this.#process}.${this.#handedOut}`
  }

  use(once: string): FormUse {
    const [process, digits = ''] = once.split('.')
    const number = /^\d{1,15}$/.test(digits) ? Number(digits) : 0
    if (process !== this.#process || number < 1 || number > this.#handedOut) return 'foreign'
    if (this.#open.delete(number)) return 'first'
    return number <= this.#forgottenTo ? 'foreign' : 'again'
  }

  #forgetOldest(): void {
    for (const oldest of this.#open) {
      this.#open.delete(oldest)
      this.#forgottenTo = oldest
      return
    }
  }
}

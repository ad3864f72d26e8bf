import { Trouble } from '../domain/trouble.ts'
import { overloadedLooksMin, troubleLookMs } from '../limits.ts'
import type { Schedule } from '../schedule.ts'

export const bodyHolderToldBytesMin = 1024 * 1024
export const bodyHoldersToldMax = 5

/** What has no memory left. `bodies`: all that reserve some. `batches`: only bodies too large for a single reading. */
export type RefusedKind = 'bodies' | 'batches'

export type BodyTrouble = { readonly kind: RefusedKind; readonly why: string }

type Reserved = { readonly bytes: number; readonly holders: ReadonlyMap<string, { readonly bytes: number }> }

/** A timer looks for refusals once a second, and stops when there are none. */
export class BodyMemoryTrouble {
  readonly #schedule: Schedule
  readonly #reserved: () => Reserved
  readonly #troubles = { bodies: new Trouble(bounds), batches: new Trouble(bounds) }
  readonly #noted = { bodies: false, batches: false }
  #isLooking = false

  constructor(schedule: Schedule, reserved: () => Reserved) {
    this.#schedule = schedule
    this.#reserved = reserved
  }

  troubles(): readonly BodyTrouble[] {
    return kinds.flatMap((kind) => {
      const { why } = this.#troubles[kind]
      return why === null ? [] : [{ kind, why }]
    })
  }

  /** Only sets a flag: there can be thousands of refusals a second, and a text for each would be slow. */
  note(kind: RefusedKind): void {
    this.#noted[kind] = true
    if (!this.#isLooking) this.#lookLater()
  }

  #lookLater(): void {
    this.#isLooking = true
    this.#schedule.after(troubleLookMs, () => {
      for (const kind of kinds) this.#look(kind)
      this.#isLooking = false
      if (kinds.some((kind) => !this.#troubles[kind].isOver)) this.#lookLater()
    })
  }

  #look(kind: RefusedKind): void {
    const trouble = this.#troubles[kind]
    if (this.#noted[kind]) trouble.note(holdersText(this.#reserved()))
    this.#noted[kind] = false
    trouble.look()
  }
}

const kinds = ['bodies', 'batches'] as const

const bounds = { beginsAfterLooks: overloadedLooksMin, endsAfterLooks: overloadedLooksMin }

const holdersText = ({ bytes, holders }: Reserved): string => {
  const most = [...holders]
    .filter(([, held]) => held.bytes >= bodyHolderToldBytesMin)
    .sort(([, a], [, b]) => b.bytes - a.bytes)
    .slice(0, bodyHoldersToldMax)
    .map(([key, held]) => `${key} (${mebibytes(held.bytes)} MiB)`)
  const keys = most.length === 0 ? 'no key has much of it' : `the keys with the most are ${most.join(', ')}`
  return `unfinished bodies have reserved ${mebibytes(bytes)} MiB; ${keys}`
}

const mebibytes = (bytes: number): number => Math.floor(bytes / 1024 ** 2)

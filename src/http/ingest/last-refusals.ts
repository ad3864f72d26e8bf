import { BoundedMap } from '../../domain/bounded-map.ts'

/** Keys whose last refusal stays in memory. A further key replaces the key that was refused longest ago. */
const lastRefusalsMax = 10_000

export type LastRefusal = {
  readonly atMs: number
  readonly code: string
  /** True if the key's cost budget was empty. `code` does not show that, because a full rate window has the same code. */
  readonly isCost: boolean
}

/**
 * If the cost budget was empty, `cause` is the code of the last refusal for another reason, which tells what used up the
 * budget. `null`: the budget was not empty, or no other refusal is known.
 */
export type NotedRefusal = LastRefusal & { readonly cause: string | null }

/**
 * The last refusal of each key, for the key's page. Only requests with the right secret are noted, so strangers cannot change
 * the page. The refusals are kept only in memory.
 */
export class LastRefusals {
  readonly #byKey: BoundedMap<string, NotedRefusal>

  constructor(keysMax: number = lastRefusalsMax) {
    this.#byKey = new BoundedMap(keysMax)
  }

  of(keyId: string): NotedRefusal | null {
    return this.#byKey.get(keyId) ?? null
  }

  note(keyId: string, refusal: LastRefusal): void {
    const before = this.#byKey.get(keyId)
    const cause = before?.isCost === true ? before.cause : (before?.code ?? null)
    this.#byKey.set(keyId, { ...refusal, cause: refusal.isCost ? cause : null })
  }
}

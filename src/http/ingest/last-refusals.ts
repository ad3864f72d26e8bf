import { BoundedMap } from '../../domain/bounded-map.ts'
import { lastRefusalsMax } from '../../limits.ts'

export type LastRefusal = {
  readonly atMs: number
  readonly code: string
  /** Whether the key's cost budget was empty: the code of a full window is the same. */
  readonly isCost: boolean
}

/** `cause`: the code of the refusal before the budget was empty, which an admin has to look for; `null`: not known. */
export type NotedRefusal = LastRefusal & { readonly cause: string | null }

/**
 * The last refusal of each key, for the admin who wonders why a device is silent. In memory only: a refusal is no event. Only
 * of keys whose secret was right, so that nobody without one can fill it. The key refused longest ago gives way.
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

import { lastRefusalsMax } from '../../limits.ts'

export type LastRefusal = { readonly atMs: number; readonly code: string }

/**
 * The last refusal of each key, for the admin who wonders why a device is silent. In memory only: a refusal is no event. Only
 * of keys whose secret was right, so that nobody without one can fill it. The key refused longest ago gives way.
 */
export class LastRefusals {
  readonly #byKey = new Map<string, LastRefusal>()

  constructor(readonly keysMax: number = lastRefusalsMax) {}

  of(keyId: string): LastRefusal | null {
    return this.#byKey.get(keyId) ?? null
  }

  note(keyId: string, refusal: LastRefusal): void {
    this.#byKey.delete(keyId)
    this.#byKey.set(keyId, refusal)
    if (this.#byKey.size <= this.keysMax) return
    for (const longestAgo of this.#byKey.keys()) {
      this.#byKey.delete(longestAgo)
      return
    }
  }
}

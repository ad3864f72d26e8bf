import { BoundedMap } from '../../domain/bounded-map.ts'

const lastRefusalsMax = 10_000

export type LastRefusal = {
  readonly atMs: number
  readonly code: string
  /** `code` does not tell this: a full rate window has the same code. */
  readonly isCost: boolean
}

/** `cause`: what used up an empty cost budget, if that is known. */
type NotedRefusal = LastRefusal & { readonly cause: string | null }

/** Only requests with the right secret are noted, so strangers cannot change the key's page. Only in memory. */
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

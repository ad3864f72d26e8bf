import type { Limit, RecordedEvent } from '../src/domain/events.ts'
import { evolveKey, type KeyEventType, type KeyState } from '../src/domain/key.ts'
import { keyLimitDefault } from '../src/limits.ts'
import { isNext } from './next-revision.ts'
import type { CellarQueries, KeyQueries } from './queries.ts'

/** Every key, for ever: who is asked for on each request, so it must be found without reading the log. */
export class KeyDirectory implements KeyQueries {
  readonly #cellars: CellarQueries
  readonly #byStream = new Map<string, KeyState>()
  readonly #byId = new Map<string, KeyState>()
  /** Ids in order of folding, which is nearly the order of creation. */
  readonly #idsOfCellar = new Map<string, string[]>()

  constructor(cellars: CellarQueries) {
    this.#cellars = cellars
  }

  fold(event: RecordedEvent<KeyEventType>): void {
    const before = this.#byStream.get(event.stream) ?? null
    if (!isNext(before?.revision ?? -1, event)) return
    const after = evolveKey(before, event)
    this.#byStream.set(event.stream, after)
    this.#byId.set(after.keyId, after)
    if (before !== null) return
    const ids = this.#idsOfCellar.get(after.cellar)
    if (ids === undefined) this.#idsOfCellar.set(after.cellar, [after.keyId])
    else ids.push(after.keyId)
  }

  get(keyId: string): KeyState | null {
    return this.#byId.get(keyId) ?? null
  }

  ofCellar(cellar: string): readonly KeyState[] {
    const keys: KeyState[] = []
    for (const id of this.#idsOfCellar.get(cellar) ?? []) {
      const key = this.#byId.get(id)
      if (key !== undefined) keys.push(key)
    }
    return keys.sort(newestFirst)
  }

  list(): readonly KeyState[] {
    return [...this.#byId.values()].sort(newestFirst)
  }

  effectiveLimit(key: KeyState): Limit {
    return key.limit ?? this.#cellars.get(key.cellar)?.policy.limit ?? keyLimitDefault
  }
}

/** By time, then by id: an order that does not depend on the order in which streams were folded. */
const newestFirst = (a: KeyState, b: KeyState): number => b.created.at - a.created.at || (a.keyId < b.keyId ? -1 : 1)

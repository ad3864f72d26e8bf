import type { Limit, RecordedEvent } from '../src/domain/events.ts'
import { evolveKey, type KeyEventType, type KeyState } from '../src/domain/key.ts'
import { keyIdOf } from '../src/domain/stream-names.ts'
import { keyLimitDefault } from '../src/limits.ts'
import type { CellarList } from './cellar-list.ts'
import { isNext } from './next-revision.ts'
import { PastNames } from './past-names.ts'

export class KeyDirectory {
  readonly #cellars: Pick<CellarList, 'get'>
  readonly #byId = new Map<string, KeyState>()
  readonly #pastLabels = new PastNames()
  /** A page asks for them twice a second, so they are sorted only if a key was added. */
  readonly #ofCellar = new Map<string, { readonly keyIds: string[]; isSorted: boolean }>()

  constructor(cellars: Pick<CellarList, 'get'>) {
    this.#cellars = cellars
  }

  fold(event: RecordedEvent<KeyEventType>): void {
    const before = this.get(keyIdOf(event.stream))
    if (!isNext(before?.revision ?? -1, event)) return
    const key = evolveKey(before, event)
    if (before === null) this.#add(key)
    else this.#byId.set(key.keyId, key)
    if (before !== null && before.label !== key.label) this.#pastLabels.end(key.keyId, before.label, event.position)
  }

  get(keyId: string): KeyState | null {
    return this.#byId.get(keyId) ?? null
  }

  /** Just before the event. `null`: unknown or forgotten (`PastNames`). */
  labelAt(keyId: string, position: number): string | null {
    const key = this.get(keyId)
    return key === null ? null : this.#pastLabels.at(keyId, position, key.label)
  }

  ofCellar(cellar: string): readonly KeyState[] {
    const keys = this.#ofCellar.get(cellar)
    if (keys === undefined) return []
    const states = keys.keyIds.flatMap((keyId) => this.get(keyId) ?? [])
    if (keys.isSorted) return states
    states.sort(newestFirst)
    for (const [place, { keyId }] of states.entries()) keys.keyIds[place] = keyId
    keys.isSorted = true
    return states
  }

  /** In no order, one by one, so that a caller can pause between them. `null`: of all cellars. */
  *each(cellar: string | null): Generator<KeyState> {
    if (cellar === null) yield* this.#byId.values()
    else
      for (const keyId of [...(this.#ofCellar.get(cellar)?.keyIds ?? [])]) {
        const key = this.get(keyId)
        if (key !== null) yield key
      }
  }

  list(): readonly KeyState[] {
    return [...this.#byId.values()].sort(newestFirst)
  }

  /** Lengths first, so that a look through a million keys makes few new strings. */
  labelled(label: string): readonly KeyState[] {
    const wanted = label.toLowerCase()
    const found: KeyState[] = []
    for (const key of this.#byId.values())
      if (key.label.length === label.length && key.label.toLowerCase() === wanted) found.push(key)
    return found.sort(newestFirst)
  }

  /** With 100,000 keys, this takes 5 to 10 ms. */
  labelledLike(pattern: RegExp): readonly KeyState[] {
    return [...this.#byId.values()].filter(({ label }) => pattern.test(label)).sort(newestFirst)
  }

  effectiveLimit(key: KeyState): Limit {
    return key.limit ?? this.#cellars.get(key.cellar)?.policy.limit ?? keyLimitDefault
  }

  #add(key: KeyState): void {
    this.#byId.set(key.keyId, key)
    const keys = this.#ofCellar.get(key.cellar)
    if (keys === undefined) {
      this.#ofCellar.set(key.cellar, { keyIds: [key.keyId], isSorted: true })
      return
    }
    keys.keyIds.push(key.keyId)
    keys.isSorted = false
  }
}

/** Then by id, so that the order of folding does not matter. */
const newestFirst = (a: KeyState, b: KeyState): number => b.created.at - a.created.at || (a.keyId < b.keyId ? -1 : 1)

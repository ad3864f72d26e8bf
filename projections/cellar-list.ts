import { type CellarEventType, type CellarState, evolveCellar } from '../src/domain/cellar.ts'
import type { RecordedEvent } from '../src/domain/events.ts'
import { orderKey } from '../src/domain/search/order-key.ts'
import { isNext } from './next-revision.ts'
import { PastNames } from './past-names.ts'

export class CellarList {
  readonly #byStream = new Map<string, CellarState>()
  readonly #byIdentifier = new Map<string, CellarState>()
  readonly #pastTitles = new PastNames()
  #sorted: readonly CellarState[] | null = null

  fold(event: RecordedEvent<CellarEventType>): void {
    const before = this.#byStream.get(event.stream) ?? null
    if (!isNext(before?.revision ?? -1, event)) return
    const cellar = evolveCellar(before, event)
    this.#put(event.stream, cellar)
    if (before !== null && before.title !== cellar.title)
      this.#pastTitles.end(cellar.cellar, before.title, event.position)
  }

  get(cellar: string): CellarState | null {
    return this.#byIdentifier.get(cellar) ?? null
  }

  ofStream(stream: string): CellarState | null {
    return this.#byStream.get(stream) ?? null
  }

  /** Just before the event. `null`: unknown or forgotten (`PastNames`). */
  titleAt(cellar: string, position: number): string | null {
    const known = this.get(cellar)
    return known === null ? null : this.#pastTitles.at(cellar, position, known.title)
  }

  /** Sorted by title, then by identifier. */
  list(): readonly CellarState[] {
    this.#sorted ??= byTitle(this.#byIdentifier.values())
    return this.#sorted
  }

  #put(stream: string, cellar: CellarState): void {
    this.#byStream.set(stream, cellar)
    this.#byIdentifier.set(cellar.cellar, cellar)
    this.#sorted = null
  }
}

/** In the normal form D, "Ä" is an "A" with a mark, so it comes before "B". */
const byTitle = (cellars: Iterable<CellarState>): readonly CellarState[] =>
  Array.from(cellars, (cellar) => [orderKey(cellar.title.normalize('NFD').toLowerCase()), cellar] as const)
    .sort(([a, { cellar }], [b, other]) => (a < b || (a === b && cellar < other.cellar) ? -1 : 1))
    .map(([, cellar]) => cellar)

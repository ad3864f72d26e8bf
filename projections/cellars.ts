import { type CellarEventType, type CellarState, evolveCellar } from '../src/domain/cellar.ts'
import type { RecordedEvent } from '../src/domain/events.ts'
import { isNext } from './next-revision.ts'
import type { CellarQueries } from './queries.ts'

/** Every cellar, for ever: only admins make them. */
export class CellarsFold implements CellarQueries {
  readonly #byStream = new Map<string, CellarState>()
  readonly #byIdentifier = new Map<string, CellarState>()
  #sorted: readonly CellarState[] | null = null

  fold(event: RecordedEvent<CellarEventType>): void {
    const before = this.#byStream.get(event.stream) ?? null
    if (!isNext(before?.revision ?? -1, event)) return
    const after = evolveCellar(before, event)
    this.#byStream.set(event.stream, after)
    this.#byIdentifier.set(after.cellar, after)
    this.#sorted = null
  }

  get(cellar: string): CellarState | null {
    return this.#byIdentifier.get(cellar) ?? null
  }

  list(): readonly CellarState[] {
    this.#sorted ??= [...this.#byIdentifier.values()].sort(byTitle)
    return this.#sorted
  }
}

/** As people sort: "Cellar 2" before "Cellar 10". The language is fixed, so that every machine shows one order. */
const { compare } = new Intl.Collator('en', { numeric: true })

const byTitle = (a: CellarState, b: CellarState): number => compare(a.title, b.title) || (a.cellar < b.cellar ? -1 : 1)

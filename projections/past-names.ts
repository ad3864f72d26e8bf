import { pastNamesMax } from '../src/limits.ts'
import type { PieceReader, PieceWriter } from './saved-pieces.ts'

/** A name that ended with the event at the position `until`. */
type PastName = { readonly name: string; readonly until: number }

/**
 * The earlier names of keys or cellars that were renamed. So the Log can call each thing as it was called at that time. Of a thing
 * that was renamed more than `pastNamesMax` times, only so many names are remembered.
 */
export class PastNames {
  readonly #ofId: Map<string, readonly PastName[]>

  constructor(ofId: Iterable<readonly [string, readonly PastName[]]> = []) {
    this.#ofId = new Map(ofId)
  }

  /** `position` is that of the event that changed the name. */
  end(id: string, name: string, position: number): void {
    this.#ofId.set(id, [...(this.#ofId.get(id) ?? []), { name, until: position }].slice(-pastNamesMax - 1))
  }

  /** Returns the name just before the event at the position. `null`: the name is forgotten. */
  at(id: string, position: number, now: string): string | null {
    const names = this.#ofId.get(id) ?? []
    const index = names.findIndex(({ until }) => position <= until)
    // Names before the first one of a full list were forgotten, so the first one can be younger than the event.
    if (index === 0 && names.length > pastNamesMax) return null
    return names[index]?.name ?? now
  }

  /** A save shows its first moment, although names end during the save. */
  copy(): PastNames {
    return new PastNames(this.#ofId)
  }

  save(to: PieceWriter, id: string): void {
    to.list(this.#ofId.get(id) ?? [], ({ name, until }) => {
      to.text(name)
      to.whole(until)
    })
  }

  restore(from: PieceReader, id: string): void {
    const names = from.list(() => ({ name: from.text(), until: from.whole() }))
    if (names.length > 0) this.#ofId.set(id, names)
  }
}

import { pastNamesMax } from '../src/limits.ts'

/** A name that ended with the event at the position `until`. */
type PastName = { readonly name: string; readonly until: number }

/**
 * The earlier names of keys or cellars that were renamed. So the Log can call each thing as it was called at that time. Of a thing
 * that was renamed more than `pastNamesMax` times, only so many names are remembered.
 */
export class PastNames {
  readonly #ofId = new Map<string, readonly PastName[]>()

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
}

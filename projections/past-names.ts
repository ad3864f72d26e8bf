/** Earlier names of a key or a cellar that a node remembers. The Log shows the id in place of an older name. */
export const pastNamesMax = 20

/** Ended with the event at `until`. */
type PastName = { readonly name: string; readonly until: number }

/** So the Log can call each thing as it was called at that time. At most `pastNamesMax` of each. */
export class PastNames {
  readonly #ofId = new Map<string, readonly PastName[]>()

  /** Of the event that changed the name. */
  end(id: string, name: string, position: number): void {
    this.#ofId.set(id, [...(this.#ofId.get(id) ?? []), { name, until: position }].slice(-pastNamesMax - 1))
  }

  /** Just before the event. `null`: the name is forgotten. */
  at(id: string, position: number, now: string): string | null {
    const names = this.#ofId.get(id) ?? []
    const index = names.findIndex(({ until }) => position <= until)
    // Names before the first were forgotten, so it can be younger than the event.
    if (index === 0 && names.length > pastNamesMax) return null
    return names[index]?.name ?? now
  }
}

/** Earlier names of a key or a cellar that a node remembers. The Log shows the id in place of an older name. */
export const pastNamesMax = 20

/** The event at position `until` ended this name. */
type PastName = { readonly name: string; readonly until: number }

/** The Log calls each thing as it was called at that time. At most `pastNamesMax` names of each thing are remembered. */
export class PastNames {
  readonly #ofId = new Map<string, readonly PastName[]>()

  /** `position` is that of the event that changed the name. */
  end(id: string, name: string, position: number): void {
    this.#ofId.set(id, [...(this.#ofId.get(id) ?? []), { name, until: position }].slice(-pastNamesMax - 1))
  }

  /** Just before the event. `null`: the name is forgotten. */
  at(id: string, position: number, now: string): string | null {
    const names = this.#ofId.get(id) ?? []
    const index = names.findIndex(({ until }) => position <= until)
    // If names were forgotten, the first one that is left can be younger than the event.
    if (index === 0 && names.length > pastNamesMax) return null
    return names[index]?.name ?? now
  }
}

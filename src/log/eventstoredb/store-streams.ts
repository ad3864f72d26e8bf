import { categories } from '../../domain/stream-names.ts'

/** In EventStoreDB, stream names have the prefix from this service's settings. In the program, they have no prefix. */
export class StreamNames {
  readonly #prefix: string

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  nameOf(stream: string): string {
    return this.#prefix + stream
  }

  /** EventStoreDB keeps the settings of a stream, such as `$tb` (truncate before), in a second stream with this name. */
  metadataNameOf(stream: string): string {
    return `$$${this.nameOf(stream)}`
  }

  streamOf(name: string): string {
    return name.slice(this.#prefix.length)
  }

  /**
   * Returns how the stream names of the categories `of` begin, for EventStoreDB's filter. `null` means all categories.
   */
  prefixes(of: readonly string[] | null): readonly string[] {
    return (of ?? categories).map((category) => `${this.#prefix}${category}-`)
  }
}

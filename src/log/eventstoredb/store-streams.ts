import { categories, purgeableCategories } from '../../domain/stream-names.ts'

/** EventStoreDB keeps the settings of a stream, such as `$tb` (truncate before), in a second stream with this name. */
export const metadataNameOf = (streamName: string): string => metadataPrefix + streamName

/** Returns `null` if the stream has no settings of another stream. */
export const streamOfMetadata = (metadataName: string): string | null =>
  metadataName.startsWith(metadataPrefix) ? metadataName.slice(metadataPrefix.length) : null

const metadataPrefix = '$$'

/** In EventStoreDB, stream names have the prefix from this service's settings. In the program, they have no prefix. */
export class StreamNames {
  readonly #prefix: string

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  nameOf(stream: string): string {
    return this.#prefix + stream
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

  /** Returns how the names of the streams begin that say what is truncated. */
  truncationPrefixes(): readonly string[] {
    return this.prefixes(purgeableCategories).map(metadataNameOf)
  }
}

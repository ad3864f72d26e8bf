import { categories, purgeableCategories } from '../../domain/stream-names.ts'

/** Holds settings such as `$tb` (truncate before). */
export const metadataNameOf = (streamName: string): string => metadataPrefix + streamName

export const streamOfMetadata = (metadataName: string): string | null =>
  metadataName.startsWith(metadataPrefix) ? metadataName.slice(metadataPrefix.length) : null

const metadataPrefix = '$$'

/** In EventStoreDB, names have the prefix from this service's settings. */
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

  /** `null`: all categories. */
  prefixes(of: readonly string[] | null): readonly string[] {
    return (of ?? categories).map((category) => `${this.#prefix}${category}-`)
  }

  /** They say what is truncated. */
  truncationPrefixes(): readonly string[] {
    return this.prefixes(purgeableCategories).map(metadataNameOf)
  }
}

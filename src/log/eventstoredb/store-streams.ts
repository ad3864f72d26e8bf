import { categories } from '../../domain/stream-names.ts'

/** Stream names have a prefix from the settings in EventStoreDB, and no prefix in the program. */
export class StreamNames {
  readonly #prefix: string

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  nameOf(stream: string): string {
    return this.#prefix + stream
  }

  /** EventStoreDB keeps its own settings of a stream in this second stream, such as `$tb` (truncate before). */
  metadataNameOf(stream: string): string {
    return `$$${this.nameOf(stream)}`
  }

  streamOf(name: string): string {
    return name.slice(this.#prefix.length)
  }

  /** Returns how the stream names of these categories begin. `null` means all categories. */
  prefixes(of: readonly string[] | null): readonly string[] {
    return (of ?? categories).map((category) => `${this.#prefix}${category}-`)
  }
}

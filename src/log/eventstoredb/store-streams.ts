import { categories } from '../../domain/stream-names.ts'

/** Adds the prefix from the settings to stream names, and removes it. */
export class StreamNames {
  readonly #prefix: string

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  nameOf(stream: string): string {
    return this.#prefix + stream
  }

  /** The stream that holds the server's settings of `stream`, such as `$tb` (truncate before). */
  metadataNameOf(stream: string): string {
    return `$$${this.nameOf(stream)}`
  }

  streamOf(name: string): string {
    return name.slice(this.#prefix.length)
  }

  /** `null` means all categories. */
  prefixes(of: readonly string[] | null): readonly string[] {
    return (of ?? categories).map((category) => `${this.#prefix}${category}-`)
  }
}

import { categories } from '../../domain/stream-names.ts'

/** Adds the prefix of the settings to stream names, and removes it. */
export class StreamNames {
  readonly #prefix: string

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  nameOf(stream: string): string {
    return this.#prefix + stream
  }

  /** The stream with the server's settings for a stream, such as `$tb`. */
  metadataNameOf(stream: string): string {
    return `$$${this.nameOf(stream)}`
  }

  streamOf(name: string): string {
    return name.slice(this.#prefix.length)
  }

  /** `null`: all categories. */
  prefixes(of: readonly string[] | null): readonly string[] {
    return (of ?? categories).map((category) => `${this.#prefix}${category}-`)
  }
}

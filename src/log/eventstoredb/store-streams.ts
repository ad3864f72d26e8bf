import { categories } from '../../domain/stream-names.ts'

/** Stream names, with and without the prefix of the settings. */
export class StreamNames {
  readonly #prefix: string

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  nameOf(stream: string): string {
    return this.#prefix + stream
  }

  /** Holds the server's settings of a stream, such as `$tb`. */
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

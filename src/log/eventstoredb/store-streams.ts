import { categories } from '../../domain/stream-names.ts'

/** Streams as this log names them, and as the server does: with the prefix. */
export class StreamNames {
  readonly #prefix: string

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  nameOf(stream: string): string {
    return this.#prefix + stream
  }

  /** Of the stream that holds what the server knows of a stream, its `$tb` above all. */
  metadataNameOf(stream: string): string {
    return `$$${this.nameOf(stream)}`
  }

  /** Of a name that one of the prefixes below begins. */
  streamOf(name: string): string {
    return name.slice(this.#prefix.length)
  }

  /** What names of streams of these categories begin with; `null`: of all that this log has. */
  prefixes(of: readonly string[] | null): readonly string[] {
    return (of ?? categories).map((category) => `${this.#prefix}${category}-`)
  }
}

import type { Append } from './state.ts'

export type AppendFault = {
  readonly isWritten: boolean
  readonly ends: /** Nothing ever comes. */
    | 'silence'
    /** All connections of the server. */
    | 'cut'
    /** The append stream ends cleanly, though appends wait on it. */
    | 'clean_end'
    | 'timeout'
    | 'no_space'
}

export class Faults {
  ofAppend: (append: Append) => AppendFault | null = () => null
  /** Delays appends before they are judged. */
  beforeAppend: (() => Promise<void>) | null = null
  /** A server that starts accepts connections and does nothing. */
  isReady: () => boolean = () => true
  /** `all`: reads and subscriptions of all streams. */
  denies: (what: 'all' | 'stream' | 'append') => boolean = () => false
  /** Delays reads of everything, like a long log. */
  beforeReadOfAll: (() => Promise<void>) | null = null
  /** How many of the newest events reads do not show yet. */
  unindexed: (stream: string) => number = () => 0
  /** Replaces each answer. */
  ofAnswer: (bytes: Buffer, to: 'read' | 'append') => Buffer = (bytes) => bytes
  /** Subscriptions bring nothing, though the server answers. */
  isCutOff = false
  /** Without metadata and types. */
  appendBytesMax = 1024 * 1024
  readonly #subscriptions = new Set<(why: string) => void>()

  /** Like a server whose client reads too slowly. */
  dropSubscriptions(): void {
    for (const drop of this.#subscriptions) drop('Consumer too slow to handle event while live')
  }

  get subscriptions(): number {
    return this.#subscriptions.size
  }

  /** Returns a function that cancels. */
  onDrop(drop: (why: string) => void): () => void {
    this.#subscriptions.add(drop)
    return () => this.#subscriptions.delete(drop)
  }
}

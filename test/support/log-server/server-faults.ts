import type { Append } from './state.ts'

/** The answer is lost before or after the append was written. */
export type AppendFault = {
  readonly isWritten: boolean
  readonly ends: /** Nothing ever comes. */
    | 'silence'
    /** All connections of the server are cut. */
    | 'cut'
    /** The append stream ends cleanly, though appends wait on it. */
    | 'clean_end'
    /** The server's own log timed out. */
    | 'timeout'
    /** The disk is full. */
    | 'no_space'
}

/** A test changes these at any time. */
export class Faults {
  /** Asked for each append that could be judged now. */
  ofAppend: (append: Append) => AppendFault | null = () => null
  /** Delays appends before they are judged. */
  beforeAppend: (() => Promise<void>) | null = null
  /** Asked for each read and append. A starting server accepts connections and does nothing. */
  isReady: () => boolean = () => true
  /** `all` means reads and subscriptions of all streams. */
  denies: (what: 'all' | 'stream' | 'append') => boolean = () => false
  /** Delays reads of everything, like a long log. */
  beforeReadOfAll: (() => Promise<void>) | null = null
  /** The number of newest events that reads do not show yet. */
  unindexed: (stream: string) => number = () => 0
  /** Replaces each answer to a read, subscription or append. */
  ofAnswer: (bytes: Buffer, to: 'read' | 'append') => Buffer = (bytes) => bytes
  /** Its subscriptions bring nothing, though it answers as if it were well. */
  isCutOff = false
  /** Counts the data of one append, without metadata and types. */
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

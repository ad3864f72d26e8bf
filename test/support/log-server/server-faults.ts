import type { Append } from './state.ts'

/** Before or after it was written, its answer is lost in one of the ways in which a real one gets lost. */
export type AppendFault = {
  readonly isWritten: boolean
  readonly ends: /** Nothing ever comes. */
    | 'silence'
    /** Every connection of the server is cut. */
    | 'cut'
    /** The call over which appends come ends as if all were well, whatever still waits on it. */
    | 'clean_end'
    /** The server answers that it gave up waiting for its own log. */
    | 'timeout'
    /** The server answers that its disk is full. */
    | 'no_space'
}

/** How one server misbehaves. A test sets it at any time. */
export class Faults {
  /** Asked for each append that could be judged now. */
  ofAppend: (append: Append) => AppendFault | null = () => null
  /** Appends wait for it before they are judged: a delay, or a gate that the test opens. */
  beforeAppend: (() => Promise<void>) | null = null
  /** Asked for each read and append. A server that has just started takes connections, and does nothing. */
  isReady: () => boolean = () => true
  /** What its user may not do, or not any more: whatever goes over all streams, or read one, or append. */
  denies: (what: 'all' | 'stream' | 'append') => boolean = () => false
  /** Reads of everything wait for it: what they are to find lies far behind what others wrote. */
  beforeReadOfAll: (() => Promise<void>) | null = null
  /** Asked for each read of a stream: how many of its newest events are written, and not indexed, so that it does not show them. */
  unindexed: (stream: string) => number = () => 0
  /** What is sent in place of each answer to a read, a subscription or an append. */
  ofAnswer: (bytes: Buffer, to: 'read' | 'append') => Buffer = (bytes) => bytes
  /** It hears no more of the others: its subscriptions bring nothing, though it answers as if it were well. */
  isCutOff = false
  /** The bytes of all data of one append; metadata and types don't count. */
  appendBytesMax = 1024 * 1024
  readonly #subscriptions = new Set<(why: string) => void>()

  /** Ends every subscription as the server does to one that reads more slowly than the log grows. */
  dropSubscriptions(): void {
    for (const drop of this.#subscriptions) drop('Consumer too slow to handle event while live')
  }

  get subscriptions(): number {
    return this.#subscriptions.size
  }

  /** Returns what takes it off the list. */
  onDrop(drop: (why: string) => void): () => void {
    this.#subscriptions.add(drop)
    return () => this.#subscriptions.delete(drop)
  }
}

import type { Append } from './state.ts'

export type AppendFault = {
  readonly isWritten: boolean
  readonly ends: /** The server never answers. */
    | 'silence'
    /** The server cuts all its connections. */
    | 'cut'
    /** The append stream ends without an error, though appends still wait for their answers. */
    | 'clean_end'
    | 'timeout'
    | 'no_space'
}

export class Faults {
  ofAppend: (append: Append) => AppendFault | null = () => null
  /** Each append waits for this promise before the server accepts or refuses it. */
  beforeAppend: (() => Promise<void>) | null = null
  /** False imitates a server that is starting: it accepts connections, but refuses reads and appends. */
  isReady: () => boolean = () => true
  /** Whether the server denies access. `all` means reads and subscriptions of all streams together. */
  denies: (what: 'all' | 'stream' | 'append') => boolean = () => false
  /** Reads of all streams wait for this promise, so that a test can act while such a read is under way. */
  beforeReadOfAll: (() => Promise<void>) | null = null
  /**
   * Reads of all streams wait for this promise at each event that their filter passes, which takes a real server some time.
   * `passed` is the number of such events in this read.
   */
  passing: ((passed: number) => Promise<void>) | null = null
  /** How many of the newest events of a stream are stored, but not shown by reads yet. */
  unindexed: (stream: string) => number = () => 0
  /** Can replace the bytes of each answer, for example by broken ones. */
  ofAnswer: (bytes: Buffer, to: 'read' | 'append') => Buffer = (bytes) => bytes
  /**
   * True imitates a server that is cut off from its cluster: it still answers, but its subscriptions deliver nothing
   * new.
   */
  isCutOff = false
  /** The server refuses larger appends. Only the bytes of the events' data count. */
  appendBytesMax = 1024 * 1024
  readonly #subscriptions = new Set<(why: string) => void>()

  /** Ends all subscriptions, as a server does if a client reads too slowly. */
  dropSubscriptions(): void {
    for (const drop of this.#subscriptions) drop('Consumer too slow to handle event while live')
  }

  get subscriptions(): number {
    return this.#subscriptions.size
  }

  /** Returns a function that cancels the registration. */
  onDrop(drop: (why: string) => void): () => void {
    this.#subscriptions.add(drop)
    return () => this.#subscriptions.delete(drop)
  }
}

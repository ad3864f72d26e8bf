import type { Batch } from './commit-group.ts'
import type { Commits, Trimming, Truncation, Verdict } from './sqlite-commits.ts'

/** What is answered with a verdict. Flat where it is sent all the time: see `Batch`. */
export type CommitThreadWork =
  | ({ readonly kind: 'commit' } & Batch)
  | { readonly kind: 'truncate'; readonly truncation: Truncation }
  | { readonly kind: 'trim'; readonly trimming: Trimming }
  | { readonly kind: 'empty_wal' }

export type ToCommitThread =
  | { readonly kind: 'open'; readonly path: string }
  | CommitThreadWork
  | { readonly kind: 'close' }

export type FromCommitThread =
  | 'closed'
  | Verdict
  /** Whenever it changes, by itself: the checkpoint that is made again may succeed when nobody writes. */
  | { readonly kind: 'checkpoint'; readonly fault: string | null }

/**
 * Commits on a thread of their own. A thread that dies leaves its batch unknown, and the log stops.
 * @param thread its module; a test has one in which the disk fails.
 */
export const commitOnThread = (path: string, thread = new URL('./commit-thread.ts', import.meta.url)): Commits =>
  new ThreadedCommits(path, thread)

class ThreadedCommits implements Commits {
  readonly #worker: Worker
  readonly #closed = Promise.withResolvers<void>()
  /** Who waits for a verdict, in the order in which the thread gives them. */
  readonly #waiting: ((verdict: Verdict) => void)[] = []
  #diedOf: string | null = null
  #checkpointFault: string | null = null

  constructor(path: string, thread: URL) {
    this.#worker = new Worker(thread.href)
    this.#worker.onmessage = ({ data }: MessageEvent<FromCommitThread>) => this.#hear(data)
    this.#worker.onerror = ({ message }) => this.#die(message)
    this.#tell({ kind: 'open', path })
  }

  get fault(): string | null {
    return this.#diedOf ?? this.#checkpointFault
  }

  commit(batch: Batch): Promise<Verdict> {
    return this.#do({ kind: 'commit', ...batch })
  }

  truncate(truncation: Truncation): Promise<Verdict> {
    return this.#do({ kind: 'truncate', truncation })
  }

  trim(trimming: Trimming): Promise<Verdict> {
    return this.#do({ kind: 'trim', trimming })
  }

  emptyWriteAheadLog(): Promise<Verdict> {
    return this.#do({ kind: 'empty_wal' })
  }

  async close(): Promise<void> {
    if (this.#diedOf === null) {
      this.#tell({ kind: 'close' })
      await this.#closed.promise
    }
    this.#worker.terminate()
  }

  #do(work: CommitThreadWork): Promise<Verdict> {
    const why = this.#diedOf
    if (why !== null) return Promise.resolve({ kind: 'stopped', why })
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#tell(work)
    })
  }

  #tell(message: ToCommitThread): void {
    this.#worker.postMessage(message)
  }

  #hear(message: FromCommitThread): void {
    if (message === 'closed') this.#closed.resolve()
    else if (message.kind === 'checkpoint') this.#checkpointFault = message.fault
    else this.#waiting.shift()?.(message)
  }

  #die(why: string): void {
    this.#diedOf = `The log can't be written since its thread ended: ${why}`
    for (const settle of this.#waiting.splice(0)) settle({ kind: 'unknown', why: this.#diedOf })
    this.#closed.resolve()
  }
}

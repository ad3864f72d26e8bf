import { messageOf } from '../../domain/error-message.ts'
import { WorkerThread } from '../../worker-thread.ts'
import { CommitRegions } from './commit-regions.ts'
import { type GroupHead, type PackedGroup, writeRows } from './packed-group.ts'
import type { Commits, CommitVerdict, Trimming, Truncation } from './sqlite-commits.ts'

/**
 * The rows are in a region of `CommitRegions`, from byte `at`, or in `ownMemory`, from byte 0. Posting shared memory takes
 * 1 µs longer.
 */
export type CommitThreadWork =
  | ({ readonly kind: 'commit'; readonly at: number; readonly ownMemory: SharedArrayBuffer | null } & GroupHead)
  | { readonly kind: 'truncate'; readonly truncation: Truncation }
  | { readonly kind: 'trim'; readonly trimming: Trimming }
  | { readonly kind: 'empty_wal' }

export type ToCommitThread =
  | { readonly kind: 'open'; readonly path: string; readonly memory: SharedArrayBuffer }
  | CommitThreadWork
  | { readonly kind: 'close' }

export type FromCommitThread =
  | CommitVerdict
  /** Without a request, when copying begins to fail and when it works again. */
  | { readonly kind: 'wal_copied'; readonly fault: string | null; readonly heldBack: string | null }
  /** Without a request, when writing the witness begins to fail and when it works again. */
  | { readonly kind: 'witness_written'; readonly fault: string | null }

/**
 * If the thread dies, nobody knows what was written, so the log writes nothing more. @param thread A test gives one with a
 * failing disk.
 */
export const commitOnThread = (path: string, thread = new URL('./commit-thread.ts', import.meta.url)): Commits =>
  new ThreadedCommits(path, thread)

class ThreadedCommits implements Commits {
  readonly #thread: WorkerThread<ToCommitThread, FromCommitThread>
  /** The thread answers in order. */
  readonly #waiting: ((verdict: CommitVerdict) => void)[] = []
  readonly #regions = new CommitRegions()
  #diedOf: string | null = null
  #walCopyFault: string | null = null
  #walHeldBack: string | null = null
  #witnessFault: string | null = null

  constructor(path: string, module: URL) {
    this.#thread = new WorkerThread({
      module,
      onMessage: (message) => this.#receive(message),
      onFault: (why) => this.#failAll(why),
    })
    this.#thread.post({ kind: 'open', path, memory: this.#regions.memory })
  }

  get fault(): string | null {
    return this.#diedOf ?? this.#walCopyFault
  }

  get walHeldBack(): string | null {
    return this.#walHeldBack
  }

  get witnessFault(): string | null {
    return this.#witnessFault
  }

  async commit(group: PackedGroup): Promise<CommitVerdict> {
    const { epoch, firstPosition, streams, rows, byteLength } = group
    const region = this.#regions.take(byteLength)
    const at = region ?? 0
    const ownMemory = region === null ? memoryOf(byteLength) : null
    if (typeof ownMemory === 'string') return { kind: 'not_written', reason: 'unavailable', why: ownMemory }
    writeRows(group, ownMemory ?? this.#regions.memory, at)
    const verdict = await this.#do({ kind: 'commit', epoch, firstPosition, streams, rows, at, ownMemory })
    if (region !== null) this.#regions.giveBack(region)
    return verdict
  }

  truncate(truncation: Truncation): Promise<CommitVerdict> {
    return this.#do({ kind: 'truncate', truncation })
  }

  trim(trimming: Trimming): Promise<CommitVerdict> {
    return this.#do({ kind: 'trim', trimming })
  }

  emptyWriteAheadLog(): Promise<CommitVerdict> {
    return this.#do({ kind: 'empty_wal' })
  }

  close(): Promise<void> {
    return this.#thread.close({ kind: 'close' })
  }

  #do(work: CommitThreadWork): Promise<CommitVerdict> {
    const why = this.#diedOf
    if (why !== null) return Promise.resolve({ kind: 'stopped', why })
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#thread.post(work)
    })
  }

  #receive(message: FromCommitThread): void {
    if (message.kind === 'wal_copied') {
      this.#walCopyFault = message.fault
      this.#walHeldBack = message.heldBack
    } else if (message.kind === 'witness_written') this.#witnessFault = message.fault
    else this.#waiting.shift()?.(message)
  }

  #failAll(why: string): void {
    this.#diedOf = `The log can't be written, because its thread ended: ${why}`
    for (const settle of this.#waiting.splice(0)) settle({ kind: 'unknown', why: this.#diedOf })
  }
}

/** If `commit` threw, the log would not know that nothing was written. */
const memoryOf = (bytes: number): SharedArrayBuffer | string => {
  try {
    return new SharedArrayBuffer(bytes)
  } catch (cause) {
    return messageOf(cause)
  }
}

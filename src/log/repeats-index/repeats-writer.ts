import { WorkerThread } from '../../worker-thread.ts'
import { IndexBusy, IndexUnusable, type RepeatsChange } from '../repeats-index.ts'

export type RepeatsWriter = {
  /**
   * Writes the whole change or nothing. Changes are written in the order of the calls. Rejects with IndexBusy or
   * IndexUnusable.
   */
  write(change: RepeatsChange): Promise<void>
  /** Reads the whole file. Rejects with IndexUnusable if it is damaged, and with IndexBusy if it is locked. */
  check(): Promise<void>
  close(): Promise<void>
}

export type ToRepeatsThread =
  | { readonly kind: 'open'; readonly path: string }
  | RepeatsWork
  | { readonly kind: 'close' }

export type RepeatsWork = { readonly kind: 'write'; readonly change: RepeatsChange } | { readonly kind: 'check' }

export type WriteFault = { readonly why: string; readonly isPassing: boolean }

export type FromRepeatsThread = { readonly fault: WriteFault | null }

export const writeOnThread = (path: string): RepeatsWriter => new ThreadedWriter(path)

class ThreadedWriter implements RepeatsWriter {
  readonly #thread: WorkerThread<ToRepeatsThread, FromRepeatsThread>
  /**
   * One callback for each unanswered message. The thread answers in order, so an answer belongs to the first callback.
   */
  readonly #waiting: ((fault: WriteFault | null) => void)[] = []
  /** Why nothing can be written: the thread was closed or has failed. `null` while the thread works. */
  #ended: WriteFault | null = null

  constructor(path: string) {
    this.#thread = new WorkerThread({
      module: new URL('./repeats-thread.ts', import.meta.url),
      onMessage: ({ fault }) => this.#waiting.shift()?.(fault),
      onFault: (why) => this.#failAll(why),
    })
    this.#thread.post({ kind: 'open', path })
  }

  write(change: RepeatsChange): Promise<void> {
    return this.#do({ kind: 'write', change })
  }

  check(): Promise<void> {
    return this.#do({ kind: 'check' })
  }

  async close(): Promise<void> {
    if (this.#ended !== null) {
      this.#thread.end()
      return
    }
    this.#ended = { why: 'it is closed', isPassing: false }
    await this.#thread.close({ kind: 'close' })
  }

  async #do(work: RepeatsWork): Promise<void> {
    const fault = this.#ended ?? (await this.#faultOf(work))
    if (fault === null) return
    const message = `Cannot ${work.kind} the index of idempotency keys: ${fault.why}`
    throw fault.isPassing ? new IndexBusy(message) : new IndexUnusable(message)
  }

  #faultOf(work: RepeatsWork): Promise<WriteFault | null> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#thread.post(work)
    })
  }

  #failAll(why: string): void {
    this.#ended = { why, isPassing: false }
    for (const settle of this.#waiting.splice(0)) settle(this.#ended)
  }
}

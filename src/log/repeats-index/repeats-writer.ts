import { WorkerThread } from '../../worker-thread.ts'
import { IndexBusy, type IndexChange, IndexUnusable } from '../repeats-index.ts'

/** Where the index's file is written. A change is all there, or nothing of it. */
export type IdempotencyWriter = {
  /** Changes are written in the order in which they are given. Rejects with IndexBusy or IndexUnusable. */
  write(change: IndexChange): Promise<void>
  close(): Promise<void>
}

export type ToIdempotencyThread =
  | { readonly kind: 'open'; readonly path: string }
  | { readonly kind: 'write'; readonly change: IndexChange }
  | { readonly kind: 'close' }

/** Why a change was not written, and whether it may be, later. */
export type WriteFault = { readonly why: string; readonly isPassing: boolean }

export type FromIdempotencyThread = { readonly fault: WriteFault | null }

export const writeOnThread = (path: string): IdempotencyWriter => new ThreadedWriter(path)

class ThreadedWriter implements IdempotencyWriter {
  readonly #thread: WorkerThread<ToIdempotencyThread, FromIdempotencyThread>
  /** One for each change that has no answer yet. The thread answers in the order of the changes. */
  readonly #waiting: ((fault: WriteFault | null) => void)[] = []
  /** Set when the thread is closed or has failed: every later change is refused with it. */
  #ended: WriteFault | null = null

  constructor(path: string) {
    this.#thread = new WorkerThread({
      module: new URL('./repeats-thread.ts', import.meta.url),
      onMessage: ({ fault }) => this.#waiting.shift()?.(fault),
      onFault: (why) => this.#die(why),
    })
    this.#thread.post({ kind: 'open', path })
  }

  async write(change: IndexChange): Promise<void> {
    const fault = this.#ended ?? (await this.#written(change))
    if (fault === null) return
    const message = `Cannot write the index of Idempotency-Keys: ${fault.why}`
    throw fault.isPassing ? new IndexBusy(message) : new IndexUnusable(message)
  }

  async close(): Promise<void> {
    if (this.#ended !== null) {
      this.#thread.end()
      return
    }
    this.#ended = { why: 'it is closed', isPassing: false }
    await this.#thread.close({ kind: 'close' })
  }

  #written(change: IndexChange): Promise<WriteFault | null> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#thread.post({ kind: 'write', change })
    })
  }

  #die(why: string): void {
    this.#ended = { why, isPassing: false }
    for (const settle of this.#waiting.splice(0)) settle(this.#ended)
  }
}

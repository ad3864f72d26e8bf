import type { SQLiteError } from 'bun:sqlite'
import { WorkerThread } from '../../worker-thread.ts'
import { IndexBusy, IndexUnusable, type RepeatsChange } from '../repeats-index.ts'

export type RepeatsWriter = {
  /**
   * Writes the whole change or nothing. Changes are written in the order of the calls. Rejects with IndexBusy or
   * IndexUnusable.
   */
  write(change: RepeatsChange): Promise<void>
  close(): Promise<void>
}

export type ToRepeatsThread =
  | { readonly kind: 'open'; readonly path: string }
  | { readonly kind: 'write'; readonly change: RepeatsChange }
  | { readonly kind: 'close' }

export type WriteFault = { readonly why: string; readonly isPassing: boolean }

/** True if a later try can succeed: the disk is full, or another program has locked the file. */
export const isPassing = ({ code }: SQLiteError): boolean =>
  code === 'SQLITE_FULL' || code?.startsWith('SQLITE_BUSY') === true

export type FromRepeatsThread = { readonly fault: WriteFault | null }

export const writeOnThread = (path: string): RepeatsWriter => new ThreadedWriter(path)

class ThreadedWriter implements RepeatsWriter {
  readonly #thread: WorkerThread<ToRepeatsThread, FromRepeatsThread>
  /**
   * One callback for each unanswered change. The thread answers in order, so an answer belongs to the first callback.
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

  async write(change: RepeatsChange): Promise<void> {
    const fault = this.#ended ?? (await this.#written(change))
    if (fault === null) return
    const message = `Cannot write the index of idempotency keys: ${fault.why}`
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

  #written(change: RepeatsChange): Promise<WriteFault | null> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#thread.post({ kind: 'write', change })
    })
  }

  #failAll(why: string): void {
    this.#ended = { why, isPassing: false }
    for (const settle of this.#waiting.splice(0)) settle(this.#ended)
  }
}
